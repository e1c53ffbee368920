// SPDX-License-Identifier: Apache-2.0
// The judge of certificates, before one that was worked out by hand.
#include "verify/certificate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cases.h"
#include "judged_case.h"

namespace sluice_test {
namespace {

// The certificate of a case's layers, each of which takes half of what the judge has, rounded
// down. It is right where a load and a store of such bytes take one transfer each.
struct Certified {
  explicit Certified(const Case& c = ConvCase()) : own(c) {
    REQUIRE(FindLeastCosts(own.judge, {}, &least) == sluice::Status::kOk);
    sluice_certificate_t& to = own.judged.plan.certificate;
    to = {};
    to.struct_size = sizeof to;
    to.count = static_cast<uint32_t>(least.layers.size());
    to.layers = rows;
    REQUIRE(to.count <= 4);
    for (uint32_t l = 0; l < to.count; ++l) {
      const sluice::judge::LeastOfLayer& layer = least.layers[l];
      rows[l] = {static_cast<uint64_t>(layer.cycles / 2),
                 static_cast<uint64_t>(layer.constants / 2),
                 static_cast<uint64_t>(layer.loaded / 2),
                 static_cast<uint64_t>(layer.stored / 2), layer.energy / 2};
    }
    AddUp(0, 0, 0);
  }
  // The sums of the rows and what follows, where calls of the host take so many cycles of
  // the rows', hold the port for so many of these, and take so much energy.
  void AddUp(uint64_t host, uint64_t hold, double host_pj) {
    sluice_certificate_t& to = certificate();
    to.all = {};
    for (uint32_t l = 0; l < to.count; ++l) {
      to.all.cycles += rows[l].cycles;
      to.all.constant_bytes += rows[l].constant_bytes;
      to.all.loaded_bytes += rows[l].loaded_bytes;
      to.all.stored_bytes += rows[l].stored_bytes;
      to.all.energy_pj += rows[l].energy_pj;
    }
    sluice::judge::LeastOfLayer all;
    all.cycles = static_cast<double>(to.all.cycles - host);
    all.constants = static_cast<double>(to.all.constant_bytes);
    all.loaded = static_cast<double>(to.all.loaded_bytes);
    all.stored = static_cast<double>(to.all.stored_bytes);
    all.energy = to.all.energy_pj;
    const sluice::judge::LeastTimes times =
        TimesOf(own.judge, all, static_cast<double>(hold));
    to.host_cycles = host;
    to.compute_cycles = static_cast<uint64_t>(times.compute);
    to.port_cycles = static_cast<uint64_t>(times.port);
    sluice_report_t& report = own.judged.plan.report;
    report.bound_latency_cycles =
        std::max({to.host_cycles, to.compute_cycles, to.port_cycles});
    report.bound_energy_pj = EnergyOf(own.judge, all) + host_pj +
                             static_cast<double>(report.bound_latency_cycles) *
                                 own.judged.hardware.leakage_pj_per_cycle;
    report.bound_energy_pj *= 1 - 1e-9;
  }
  std::string Message() {
    own.d = {};
    const sluice::Status status = CheckCertificate(own.judge, least);
    const bool refused = status == sluice::Status::kRejected;
    CHECK((refused || status == sluice::Status::kOk));
    CHECK(std::string(own.d.rule) == (refused ? "certificate" : ""));
    return own.d.message;
  }
  sluice_certificate_t& certificate() { return own.judged.plan.certificate; }

  OwnJudge own;
  sluice::judge::LeastCosts least = {};
  sluice_layer_least_t rows[4] = {};
};

TEST_CASE("certificate: less than the judge's own is taken, if it adds up") {
  Certified c;
  CHECK(c.Message() == "");
  c.rows[0].stored_bytes -= 64;
  CHECK(c.Message() ==
        "the certificate's sum of stored_bytes is 128, the judge's own 64");
  c.certificate().all.stored_bytes -= 64;
  CHECK(c.Message().find("the certificate's port_cycles is ") == 0);
}

TEST_CASE("certificate: more than the judge's own is refused with the layer") {
  Certified c;
  c.rows[0].stored_bytes = 257;
  c.certificate().all.stored_bytes = 257;
  CHECK(c.Message() == "the certificate's stored_bytes is 257, the judge's own 256");
  CHECK(c.own.d.layer == 0);
  Certified again;
  again.certificate().again_pj = again.least.again_pj + 1;
  CHECK(again.Message().find("the certificate's again_pj is ") == 0);
  again.certificate().again_pj = -1;
  CHECK(again.Message().find("the certificate's again_pj is -1") == 0);
  again.certificate().again_pj = 0;
  again.certificate().caller_pj = -1;
  CHECK(again.Message().find("the certificate's caller_pj is -1") == 0);
}

TEST_CASE(
    "certificate: a call of the host takes all of its cycles, or none are claimed") {
  Certified c(GatherHostCase());
  CHECK(c.Message() == "");
  sluice::Hardware& h = c.own.judged.hardware;
  h.host.pj_per_cycle = 1e6;
  c.rows[1].cycles = 100;
  c.AddUp(100, 0, 100 * 1e6);
  CHECK(c.Message() == "");
  for (const uint64_t wrong : {99, 101}) {
    c.rows[1].cycles = wrong;
    c.AddUp(wrong, 0, 100 * 1e6);
    CHECK(c.Message() == "the certificate's cycles of a HOST call is " +
                             std::to_string(wrong) + ", the judge's own 100");
    CHECK(c.own.d.layer == 1);
  }
  // The call moves 24 bytes in and 24 out, four in a cycle.
  h.host.uses_port = true;
  c.rows[1].cycles = 112;
  const double moved = 8 * 24 * (h.dram().read_pj_per_bit + h.dram().write_pj_per_bit);
  c.AddUp(112, 12, 100 * 1e6 + moved);
  CHECK(c.Message() == "");
  c.AddUp(112, 0, 100 * 1e6 + moved);
  CHECK(c.Message().find("the certificate's port_cycles is ") == 0);
  c.AddUp(112, 12, 0);
  CHECK(c.Message().find("energy with again_pj") != std::string::npos);
}

TEST_CASE("certificate: cycles of the caller's tiles come on top of the layers'") {
  Certified c;
  c.certificate().caller_cycles = 1000;
  CHECK(c.Message().find("the certificate's compute_cycles is ") == 0);
  c.certificate().compute_cycles += 1000;
  c.own.judged.plan.report.bound_latency_cycles =
      std::max(c.certificate().compute_cycles, c.certificate().port_cycles);
  CHECK(c.Message() == "");
}

TEST_CASE("certificate: the report's bounds are its own") {
  Certified c;
  sluice_report_t& report = c.own.judged.plan.report;
  report.bound_latency_cycles -= 1;
  CHECK(c.Message().find("largest time") != std::string::npos);
  report.bound_latency_cycles += 2;
  CHECK(c.Message().find("room_cycles") != std::string::npos);
  // More than latencies one after the other take.
  report.bound_latency_cycles += 1000000;
  c.certificate().room_cycles = report.bound_latency_cycles;
  CHECK(c.Message().find("room_cycles is ") != std::string::npos);
  c.least.beyond = static_cast<double>(report.bound_latency_cycles);
  report.bound_energy_pj *= 1.001;
  CHECK(c.Message().find("energy with again_pj") != std::string::npos);
}

TEST_CASE(
    "certificate: one of other layers is refused, and none where there are bounds") {
  Certified c;
  c.certificate().count = 2;
  CHECK(c.Message() == "it has another number of layers");
  c.certificate() = {};
  CHECK(c.Message() == "bounds without a certificate");
  c.own.judged.plan.report.bound_latency_cycles = 0;
  CHECK(c.Message() == "bounds without a certificate");
  c.own.judged.plan.report.bound_energy_pj = 0;
  CHECK(c.Message() == "");
}

}  // namespace
}  // namespace sluice_test
