#include "models/run/bill.hpp"

#include <array>

namespace smplan {
namespace {

constexpr std::array<BillPart, 12> kParts = {{
    {"compute", "training", &Bill::compute},
    {"startup", "start-up", &Bill::startup},
    {"checkpoints", "waiting for checkpoints", &Bill::checkpoints},
    {"rework", "work done again", &Bill::rework},
    {"restarts", "restarts", &Bill::restarts},
    {"idle", "reserved and not used", &Bill::idle},
    {"warm_pool", "warm pool", &Bill::warm_pool},
    {"volume", "storage volumes", &Bill::volume},
    {"file_system", "file system", &Bill::file_system},
    {"checkpoint_storage", "checkpoints kept", &Bill::checkpoint_storage},
    {"requests", "S3 requests", &Bill::requests},
    {"transfer", "transfer from another region", &Bill::transfer},
}};

}  // namespace

std::span<const BillPart> bill_parts() { return kParts; }

}  // namespace smplan
