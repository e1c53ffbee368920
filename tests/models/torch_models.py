#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision, and small language and speech models, as PyTorch exports them to
ONNX: with the old exporter and the new one, then quantised by onnxruntime three ways.

Weights are seeded. The language models have the layers of public configurations (Llama,
Whisper, BERT, GPT-2) at small widths and are written here, so that no weights are needed.

Needs: pip install torch torchvision onnx onnxscript onnxruntime numpy.

    torch_models.py FOLDER [--only PATTERN] [--exporters old,new]

What was made before stays. every_model.py runs the files through the tool.
"""
import argparse
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

import onnx_models
import torch_heads
from selection import Selection


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.float().pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-5))


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class GroupedAttention(nn.Module):
    """Rotary embedding, fewer heads of keys and values than of queries."""

    def __init__(self, width, heads, kv_heads, slides):
        super().__init__()
        self.slides = slides
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.q_proj = nn.Linear(width, heads * self.size, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(heads * self.size, width, bias=False)

    def forward(self, x, cos, sin, mask, keys=None, values=None):
        n = x.shape[1]

        def split(y, heads):
            return y.view(1, n, heads, self.size).transpose(1, 2)
        q = rotated(split(self.q_proj(x), self.heads), cos, sin)
        k = rotated(split(self.k_proj(x), self.kv_heads), cos, sin)
        v = split(self.v_proj(x), self.kv_heads)
        if keys is not None:
            k, v = torch.cat((keys, k), 2), torch.cat((values, v), 2)
        # What the next run is given: all, or as much as this run was given.
        kept = (k[:, :, n:], v[:, :, n:]) if self.slides else (k, v)
        repeat = self.heads // self.kv_heads

        def widened(y):
            y = y[:, :, None].expand(1, self.kv_heads, repeat, y.shape[2], self.size)
            return y.reshape(1, self.heads, -1, self.size)
        scores = torch.matmul(q, widened(k).transpose(2, 3)) * self.size ** -0.5
        a = F.softmax(scores + mask, dim=-1)
        y = torch.matmul(a, widened(v)).transpose(1, 2).reshape(1, n, -1)
        return self.o_proj(y), kept


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, inner, slides):
        super().__init__()
        self.attention = GroupedAttention(width, heads, kv_heads, slides)
        self.before, self.after = RmsNorm(width), RmsNorm(width)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x, *rest):
        y, kept = self.attention(self.before(x), *rest)
        x = x + y
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), kept


class Llama(nn.Module):
    """Llama's layers: 64 wide, 4 heads, 2 of keys and values, 2 blocks."""

    def __init__(self, steps, past, slides=False):
        super().__init__()
        self.steps, self.past = steps, past
        self.embed = nn.Embedding(64, 64)
        self.blocks = nn.ModuleList(LlamaBlock(64, 4, 2, 176, slides) for _ in range(2))
        self.norm, self.head = RmsNorm(64), nn.Linear(64, 64, bias=False)
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, 16, 2).float() / 16))

    def forward(self, ids, *caches):
        positions = torch.arange(self.past, self.past + self.steps).float()
        angles = torch.outer(positions, self.rates)
        angles = torch.cat((angles, angles), -1)
        mask = torch.full((self.steps, self.past + self.steps), -1e4).triu(self.past + 1)
        x, kept = self.embed(ids), []
        for i, block in enumerate(self.blocks):
            x, pair = block(x, angles.cos(), angles.sin(), mask, *caches[2 * i:2 * i + 2])
            kept += pair
        y = self.head(self.norm(x))
        return (y, *kept) if self.past else y


class Whisper(nn.Module):
    """Whisper's encoder: two convolutions over the spectrogram, positions, 2 blocks."""

    def __init__(self, steps=32, bands=20, width=48):
        super().__init__()
        self.first = nn.Conv1d(bands, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, 2, padding=1)
        self.positions = nn.Parameter(torch.randn(steps // 2, width) * 0.1)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, width * 2, 0.0, F.gelu, batch_first=True,
                                       norm_first=True) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def forward(self, spectrogram):
        x = F.gelu(self.second(F.gelu(self.first(spectrogram)))).permute(0, 2, 1)
        x = x + self.positions
        for block in self.blocks:
            x = block(x)
        return self.norm(x)


class Bert(nn.Module):
    def __init__(self, width=48, steps=16):
        super().__init__()
        self.word, self.place = nn.Embedding(64, width), nn.Embedding(steps, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, width * 4, 0.0, F.gelu, batch_first=True)
            for _ in range(2))
        self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, ids):
        x = self.norm(self.word(ids) + self.place(torch.arange(ids.shape[1])))
        for block in self.blocks:
            x = block(x)
        return self.head(torch.tanh(self.pooler(x[:, 0])))


class Gpt2(nn.Module):
    def __init__(self, width=48, heads=4, steps=16):
        super().__init__()
        self.heads = heads
        self.word, self.place = nn.Embedding(64, width), nn.Embedding(steps, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(width) for _ in range(3))

    def forward(self, ids):
        n = ids.shape[1]
        x = self.word(ids) + self.place(torch.arange(n))
        q, k, v = (t.view(1, n, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.n1(x)).split(x.shape[-1], dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(1, n, -1))
        x = x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))
        return self.n3(x) @ self.word.weight.t()


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell(12, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def ids(steps):
    return torch.arange(steps)[None] % 64


def pictures(size):
    return torch.randn(1, 3, size, size)


def vision(name, size=64, **more):
    def make():
        import torchvision
        return getattr(torchvision.models, name)(weights=None, **more), (pictures(size),)
    return make


def segmentation(name, size=64):
    def make():
        import torchvision
        net = getattr(torchvision.models.segmentation, name)(weights=None,
                                                             weights_backbone=None)
        class Only(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, x):
                return self.net(x)["out"]
        return Only(), (pictures(size),)
    return make


def vit():
    import torchvision
    return torchvision.models.VisionTransformer(32, 8, 2, 4, 48, 96, num_classes=10), \
        (pictures(32),)


def swin():
    import torchvision
    return torchvision.models.SwinTransformer([4, 4], 24, [1, 1], [2, 4], [4, 4],
                                              num_classes=10), (pictures(32),)


NETWORKS = {
    "llama": lambda: (Llama(12, 0), (ids(12),)),
    "llama_cached": lambda: (Llama(1, 15), (ids(1), *(torch.randn(1, 2, 15, 16)
                                                      for _ in range(4)))),
    # Caches of a fixed length, which become states: every_model.py --states.
    "llama_window": lambda: (Llama(1, 15, True), (ids(1), *(torch.randn(1, 2, 15, 16)
                                                            for _ in range(4)))),
    "whisper": lambda: (Whisper(), (torch.randn(1, 20, 32),)),
    "bert": lambda: (Bert(), (ids(16),)),
    "gpt2": lambda: (Gpt2(), (ids(16),)),
    "vit": vit,
    "swin": swin,
    "lstm": lambda: (Recurrent(nn.LSTM), (torch.randn(1, 10, 12),)),
    "gru": lambda: (Recurrent(nn.GRU), (torch.randn(1, 10, 12),)),
    "resnet18": vision("resnet18", num_classes=10),
    "mobilenet_v2": vision("mobilenet_v2", width_mult=0.35, num_classes=10),
    "mobilenet_v3_small": vision("mobilenet_v3_small", num_classes=10),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5", num_classes=10),
    "squeezenet1_1": vision("squeezenet1_1", num_classes=10),
    "mnasnet0_5": vision("mnasnet0_5", num_classes=10),
    "efficientnet_b0": vision("efficientnet_b0", num_classes=10),
    "densenet121": vision("densenet121", num_classes=10),
    "googlenet": vision("googlenet", num_classes=10, aux_logits=False, init_weights=False),
    "regnet_y_400mf": vision("regnet_y_400mf", num_classes=10),
    "convnext_tiny": vision("convnext_tiny", num_classes=10),
    "lraspp": segmentation("lraspp_mobilenet_v3_large"),
    **torch_heads.NETWORKS,
}


def exported(model, inputs, way, path):
    names = {}
    if len(inputs) > 1:  # a token and its caches
        caches = [f"{i // 2}.{'key' if i % 2 == 0 else 'value'}"
                  for i in range(len(inputs) - 1)]
        names = {"input_names": ["ids", *(f"past_key_values.{c}" for c in caches)],
                 "output_names": ["logits", *(f"present.{c}" for c in caches)]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == "old":
            torch.onnx.export(model, inputs, path, dynamo=False, opset_version=17, **names)
        else:
            torch.onnx.export(model, inputs, path, dynamo=True, external_data=False, **names)


def prepared(path):
    """As the quantiser's documentation asks: shapes inferred, graph optimised."""
    from onnxruntime.quantization.shape_inference import quant_pre_process
    quant_pre_process(path, path + ".pre", skip_symbolic_shape=True)
    model = onnx.load(path + ".pre")
    os.remove(path + ".pre")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", default="*")
    parser.add_argument("--exporters", default="old,new")
    parser.add_argument("--ways", default="float,qdq,qdq_uint8,qoperator,dynamic")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    only = Selection("torch_" + options.only)
    for name, make in NETWORKS.items():
        for exporter in options.exporters.split(","):
            full = f"torch_{name}.{exporter}"
            paths = {w: os.path.join(options.folder, f"{full}.{w}.onnx")
                     for w in options.ways.split(",")
                     if only.has(f"{full}.{w}")}
            if all(os.path.exists(p) for p in paths.values()):
                continue
            torch.manual_seed(3)
            plain = os.path.join(options.folder, f"{full}.float.onnx")
            try:
                model, inputs = make()
                onnx_models.quiet(exported, model.eval(), inputs, exporter, plain)
                ready = onnx_models.quiet(prepared, plain)
            except Exception as error:
                print(f"{full}: not exported: {' '.join(str(error).split())[:200]}")
                continue
            for way, path in paths.items():
                if os.path.exists(path):
                    continue
                try:
                    made = onnx_models.quiet(onnx_models.quantised, ready, way, options.folder)
                    onnx.save(made, path)
                    print(f"{full}.{way}: {os.path.getsize(path)} bytes", flush=True)
                except Exception as error:
                    print(f"{full}.{way}: not quantised: {' '.join(str(error).split())[:160]}")
            for left in ("float.onnx", "quantised.onnx"):
                if os.path.exists(os.path.join(options.folder, left)):
                    os.remove(os.path.join(options.folder, left))
    only.require_one()


if __name__ == "__main__":
    sys.exit(main())
