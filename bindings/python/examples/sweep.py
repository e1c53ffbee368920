# SPDX-License-Identifier: Apache-2.0
"""Which scratchpad and which DRAM: a grid of machines, its table, front and heat map."""
import sluice

if __name__ == "__main__":
    grid = {"networks": ["mobilenet_v1"], "hardware": "soma-edge",
            "buffer_bytes": ["256K", "512K", "1M"], "dram_bytes_per_cycle": [4, 8, 16]}
    area = {"per_mac": 600e-6, "per_byte": 1.2e-6}  # mm2, of your process
    found = sluice.sweep(grid, journal="sweep.jsonl", area=area, progress=True)
    found.to_parquet("sweep.parquet")
    found.to_csv("sweep.csv")
    print(found.pareto("latency_cycles", "area"))
    found.heat_map("latency_cycles").figure.savefig("sweep.png")
