// SPDX-License-Identifier: Apache-2.0
// Translates the solver's solution into the claim that the certificate checker takes: the
// two share no header.
#ifndef SLUICE_TESTS_SOLVE_MAPPING_GEMM_GEMM_CLAIM_H_
#define SLUICE_TESTS_SOLVE_MAPPING_GEMM_GEMM_CLAIM_H_

#include <vector>

#include "solve/mapping/gemm/gemm_exact.h"
#include "verify/gemm_certificate.h"

namespace sluice_tests {

struct GemmClaim {
  std::vector<sluice::ClaimedBranch> branches;
  std::vector<sluice::ClaimedSplit> splits;
  std::vector<sluice::ClaimedTile> tiles;
  sluice::ClaimedGemm gemm = {};

  sluice::Status Check(sluice::Arena* arena, sluice::Diagnostic* diagnostic) {
    sluice::Budget budget;
    gemm.branches = sluice::Span<const sluice::ClaimedBranch>(branches.data(),  //
                                                              branches.size());
    gemm.splits =
        sluice::Span<const sluice::ClaimedSplit>(splits.data(), splits.size());
    gemm.tiles = sluice::Span<const sluice::ClaimedTile>(tiles.data(), tiles.size());
    return sluice::CheckGemmCertificate(gemm, arena, &budget, diagnostic);
  }
};

inline GemmClaim ClaimOf(const sluice::GemmShape& shape, const sluice::GemmMachine& m,
                         const sluice::GemmExactOptions& options,
                         const sluice::GemmSolution& solution,
                         const sluice::GemmCertificate& certificate) {
  GemmClaim claim;
  sluice::ClaimedGemm& c = claim.gemm;
  const sluice::GemmMapping& mapping = solution.mapping;
  for (int d = 0; d < 3; ++d) {
    c.extent[d] = shape.extent[d];
    c.fanout_limit[d] = m.fanout_limit[d];
    c.middle_tile[d] = mapping.middle_tile[d];
    c.spatial[d] = mapping.spatial[d];
    c.inner_tile[d] = mapping.inner_tile[d];
    c.outer_order[d] = mapping.outer_order.axis[d];
    c.middle_order[d] = mapping.middle_order.axis[d];
  }
  c.middle_words = m.middle_words;
  c.inner_words = m.inner_words;
  c.pe_count = m.pe_count;
  c.read_pj[0] = m.outer_read_pj;
  c.read_pj[1] = m.middle_read_pj;
  c.read_pj[2] = m.inner_read_pj;
  c.write_pj[0] = m.outer_write_pj;
  c.write_pj[1] = m.middle_write_pj;
  c.write_pj[2] = m.inner_write_pj;
  c.mac_pj = m.mac_pj;
  c.middle_leak_pj = m.middle_leak_pj;
  c.inner_leak_pj = m.inner_leak_pj;
  c.reuse_form = options.form == sluice::GemmForm::kReuse;
  c.at_most = options.pe_use == sluice::GemmPeUse::kAtMost;
  c.objective = static_cast<uint8_t>(options.objective);
  c.middle_holds = mapping.middle_holds;
  c.inner_holds = mapping.inner_holds;
  c.value = certificate.objective;
  for (const sluice::GemmProofBranch& b : certificate.branches) {
    claim.branches.push_back({b.kind, b.middle_holds, b.inner_holds, b.outer_axis,
                              b.middle_axis, b.bound, b.split_count});
  }
  for (const sluice::GemmProofSplit& s : certificate.splits) {
    claim.splits.push_back(
        {{s.spatial[0], s.spatial[1], s.spatial[2]}, s.bound, s.tile_count});
  }
  for (const sluice::GemmProofTile& t : certificate.tiles) {
    claim.tiles.push_back(
        {{t.inner_tile[0], t.inner_tile[1], t.inner_tile[2]}, t.bound});
  }
  return claim;
}

}  // namespace sluice_tests

#endif  // SLUICE_TESTS_SOLVE_MAPPING_GEMM_GEMM_CLAIM_H_
