// SPDX-License-Identifier: Apache-2.0
#include "verify/certificate.h"

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {
namespace {

// Sums of cycles end here.
constexpr double kMost = static_cast<double>(int64_t{1} << 60);
// Below 1e12 cycles or bytes, all of which doubles tell apart, this is no difference.
constexpr double kLeastPart = 1e-12;
// Energies are added up in another order than the planner's.
constexpr double kEnergyPart = 1e-9;

constexpr uint32_t kSums = kNone;  // instead of a layer

bool AtMost(double a, double b, double part) {
  // False for NaN, and for an infinite a, since b is what the judge derives.
  return a <= b + part * (b < 0 ? -b : b);
}

// A number of the certificate, with what it should be.
struct Field {
  const char* name;
  double said, own;
};

Status Refuse(const Judge& judge, uint32_t layer, const Field& field) {
  Fail fail = Reject(judge, "certificate");
  if (layer != kSums) fail.Layer(layer);
  fail.Text("the certificate's ").Text(field.name).Text(" is ");
  const double most = AtMost(field.said, kMost, 0) ? field.said : kMost;
  const int64_t said = static_cast<int64_t>(Max(most, -kMost));
  const int64_t own = static_cast<int64_t>(field.own);
  if (said == own) return fail.Text("not the judge's own");  // energies differ by less
  return fail.Say("#, the judge's own #", said, own);
}

LeastOfLayer Read(const sluice_layer_least_t& said) {
  LeastOfLayer layer;
  layer.cycles = static_cast<double>(said.cycles);
  layer.constants = static_cast<double>(said.constant_bytes);
  layer.loaded = static_cast<double>(said.loaded_bytes);
  layer.stored = static_cast<double>(said.stored_bytes);
  layer.energy = said.energy_pj;
  return layer;
}

// What the certificate's layers add up to, and what follows.
struct Claimed {
  LeastOfLayer all;   // cycles: of tiles; loads: the judge's own
  double beyond = 0;  // the most that room_cycles may be
  double host = 0, hold = 0, host_pj = 0;
};

Status CheckHost(const Judge& judge, uint32_t index, double cycles, Claimed* claimed) {
  const Hardware& h = judge.hardware;
  const HostCost cost = CostOnHost(judge, judge.graph.layers[index]);
  const double hold = static_cast<double>(Max<int64_t>(cost.hold, 0));
  const double own = static_cast<double>(cost.cycles) + hold;
  if (cycles == 0) return Status::kOk;
  if (cycles < own || cycles > own) {
    return Refuse(judge, index, {"cycles of a HOST call", cycles, own});
  }
  claimed->host = Min(claimed->host + own, kMost);
  claimed->hold = Min(claimed->hold + hold, kMost);
  claimed->host_pj += static_cast<double>(cost.cycles) * h.host.pj_per_cycle;
  if (h.host.uses_port) {
    claimed->host_pj +=
        8 * (static_cast<double>(cost.read) * h.dram().read_pj_per_bit +
             static_cast<double>(cost.written) * h.dram().write_pj_per_bit);
  }
  return Status::kOk;
}

Status CheckLayer(const Judge& judge, uint32_t index, const LeastOfLayer& own,
                  Claimed* claimed) {
  LeastOfLayer said = Read(judge.plan.certificate.layers[index]);
  const Layer& layer = judge.graph.layers[index];
  if (DeedOf(layer) == Deed::kHost || !IsAble(judge, layer)) {
    SLUICE_TRY(CheckHost(judge, index, said.cycles, claimed));
    said.cycles = 0;
  }
  const Field fields[] = {
      {"cycles", said.cycles, own.cycles},
      {"constant_bytes", said.constants, own.constants},
      {"loaded_bytes", said.loaded, own.loaded},
      {"stored_bytes", said.stored, own.stored},
      {"energy_pj", said.energy, own.energy},
  };
  for (const Field& field : fields) {
    const double part = &field - fields < 4 ? kLeastPart : kEnergyPart;
    if (!AtMost(0, field.said, 0) || !AtMost(field.said, field.own, part)) {
      return Refuse(judge, index, field);
    }
  }
  said.loads = own.loads;
  Add(said, &claimed->all);
  claimed->all.cycles = Min(claimed->all.cycles, kMost);
  return Status::kOk;
}

// The first of the fields that differs; their number if none does.
template <size_t count>
size_t Different(const Field (&fields)[count], double part) {
  size_t i = 0;
  while (i < count && AtMost(fields[i].said, fields[i].own, part) &&
         AtMost(fields[i].own, fields[i].said, part)) {
    ++i;
  }
  return i;
}

Status CheckSums(const Judge& judge, const Claimed& claimed, double* serial) {
  const sluice_certificate_t& c = judge.plan.certificate;
  const LeastOfLayer said = Read(c.all);
  LeastOfLayer all = claimed.all;
  all.cycles = Min(all.cycles + static_cast<double>(c.caller_cycles), kMost);
  const LeastTimes times = TimesOf(judge, all, claimed.hold);
  *serial = times.serial;
  const Field fields[] = {
      {"sum of cycles", said.cycles, claimed.all.cycles + claimed.host},
      {"sum of constant_bytes", said.constants, claimed.all.constants},
      {"sum of loaded_bytes", said.loaded, claimed.all.loaded},
      {"sum of stored_bytes", said.stored, claimed.all.stored},
      // Both add up the layers' in order.
      {"sum of energy_pj", said.energy, claimed.all.energy},
      {"host_cycles", static_cast<double>(c.host_cycles), claimed.host},
      {"compute_cycles", static_cast<double>(c.compute_cycles), times.compute},
      {"port_cycles", static_cast<double>(c.port_cycles), times.port},
  };
  const size_t wrong = Different(fields, kLeastPart);
  if (wrong < sizeof fields / sizeof *fields) {
    return Refuse(judge, kSums, fields[wrong]);
  }
  return Status::kOk;
}

// That the report's bounds are those of the certificate, and no more.
Status CheckReported(const Judge& judge, const Claimed& claimed) {
  const sluice_report_t& r = judge.plan.report;
  const sluice_certificate_t& c = judge.plan.certificate;
  const uint64_t sums = Max(Max(c.host_cycles, c.compute_cycles), c.port_cycles);
  const uint64_t room = r.bound_latency_cycles > sums ? r.bound_latency_cycles : 0;
  const Field times[] = {
      {"room_cycles", static_cast<double>(c.room_cycles), static_cast<double>(room)},
      {"largest time", static_cast<double>(Max(sums, c.room_cycles)),
       static_cast<double>(r.bound_latency_cycles)},
  };
  const size_t wrong = Different(times, 0);
  if (wrong < 2) return Refuse(judge, kSums, times[wrong]);
  const Field most = {"room_cycles", times[0].said, claimed.beyond};
  if (!AtMost(most.said, most.own, kLeastPart)) return Refuse(judge, kSums, most);
  const double leakage =
      static_cast<double>(r.bound_latency_cycles) * judge.hardware.leakage_pj_per_cycle;
  const double energy = EnergyOf(judge, claimed.all) + c.again_pj + c.caller_pj +
                        leakage + claimed.host_pj;
  const Field energies[] = {
      {"energy with again_pj", energy * (1 - kEnergyPart), r.bound_energy_pj}};
  if (Different(energies, kEnergyPart) == 0) return Refuse(judge, kSums, energies[0]);
  return Status::kOk;
}

}  // namespace

Status CheckCertificate(const Judge& judge, const LeastCosts& own) {
  const sluice_certificate_t& c = judge.plan.certificate;
  const bool bounds = judge.plan.report.bound_latency_cycles != 0 ||
                      judge.plan.report.bound_energy_pj > 0;
  if (c.layers == nullptr) {
    if (!bounds) return Status::kOk;
    return Reject(judge, "certificate").Text("bounds without a certificate");
  }
  if (c.count != own.layers.size()) {
    return Reject(judge, "certificate").Text("it has another number of layers");
  }
  Claimed claimed;
  for (uint32_t l = 0; l < c.count; ++l) {
    SLUICE_TRY(CheckLayer(judge, l, own.layers[l], &claimed));
  }
  double serial = 0;
  SLUICE_TRY(CheckSums(judge, claimed, &serial));
  claimed.beyond = Max(own.beyond, serial);
  const Field again = {"again_pj", c.again_pj, own.again_pj};
  if (!AtMost(0, again.said, 0) || !AtMost(again.said, again.own, kEnergyPart)) {
    return Refuse(judge, kSums, again);
  }
  const Field caller = {"caller_pj", c.caller_pj, 0};
  if (!AtMost(0, caller.said, 0)) return Refuse(judge, kSums, caller);
  return CheckReported(judge, claimed);
}

}  // namespace judge
}  // namespace sluice
