#include "models/run/cost.hpp"

#include <algorithm>
#include <cmath>

#include "models/run/markets.hpp"

namespace smplan {
namespace {

/// Parts of an upload, each a request. Source: boto3 TransferConfig, multipart_chunksize.
constexpr Bytes kPart = Bytes(8 * kMiB);
/// The month of AWS Spot Instance Advisor.
constexpr double kAdvisorDays = 30;

Seconds fleet_time_between_reclaims(double monthly, std::int32_t instances) {
  if (!(monthly > 0)) return {};
  return days(kAdvisorDays) / (-std::log1p(-monthly) * instances);
}

/// Times that make up a restart, whatever interrupted.
struct RestartTimes {
  Seconds fetch;   ///< image, data and weights, on an instance that is new
  Seconds set_up;  ///< model and first step, on all
  Seconds load;    ///< the state
};

/// From the loss of an instance that takes `replacement` to be replaced to the next step. Elastic jobs start again
/// twice where no spare is there, without the instance and with it, and are slower by its share between.
Seconds restart_after_loss(const RunSetup& setup, std::int32_t instances, Seconds apart, Seconds replacement,
                           const RestartTimes& t) {
  const Recovery& r = setup.recovery;
  if (!is_standing(r.platform)) return replacement + t.fetch + t.set_up + t.load;
  const Seconds wait = wait_for_instance(r.spares, replacement, apart);
  if (r.mode == RecoveryMode::Checkpointless) return wait + setup.operations.checkpointless_recovery;
  const Seconds start = t.set_up + t.load;
  if (r.mode == RecoveryMode::Restart || instances == 1) return wait + t.fetch + start;
  const double none = no_spare_probability(r.spares, apart > Seconds() ? replacement / apart : 0);
  return start + (1 - none) * t.fetch + none * start + wait / static_cast<double>(instances);
}

Interruptions hardware_failures(const RunSetup& setup, const InstanceType& instance, std::int32_t instances,
                                const RestartTimes& restart) {
  const Operations& o = setup.operations;
  const std::int64_t devices = std::int64_t{std::max(1, instance.accelerator_count)} * instances;
  Interruptions i;
  i.apart = o.failures_apart_per_gpu / static_cast<double>(std::max<std::int64_t>(1, devices));
  // What hands the state on from memory to memory was measured with the detection.
  const bool checkpointless = setup.recovery.mode == RecoveryMode::Checkpointless;
  i.restart = (checkpointless ? Seconds() : o.failure_detection) +
              restart_after_loss(setup, instances, i.apart, o.provisioning, restart);
  // Only managed spot training is known not to bill while it waits for instances.
  const bool job = !is_standing(setup.recovery.platform);
  i.waiting = job && setup.market == Market::Spot ? o.provisioning : Seconds();
  return i;
}

Interruptions spot_reclaims(const RunSetup& setup, const InstanceType& instance, std::int32_t instances,
                            const RestartTimes& restart) {
  if (setup.market != Market::Spot || setup.facts == nullptr) return {};
  const Operations& o = setup.operations;
  Interruptions i;
  i.apart = fleet_time_between_reclaims(setup.facts->spot_monthly(instance.name, setup.region), instances);
  i.restart = restart_after_loss(setup, instances, i.apart, o.spot_wait + o.provisioning, restart);
  if (!is_standing(setup.recovery.platform)) i.waiting = o.spot_wait + o.provisioning;
  return i;
}

/// Jobs of higher priority take the instances, and pay for them meanwhile. Images stay on them.
Interruptions evictions(const RunSetup& setup, const RestartTimes& restart) {
  const Recovery& r = setup.recovery;
  return {r.preempted_every, r.preempted_for + restart.set_up + restart.load, r.preempted_for};
}

bool mounts(const RunSetup& setup, CheckpointTarget target, InputMode mode, std::optional<InputMode> chosen) {
  return setup.checkpoint_target == target || chosen == mode;
}

/// The file system that checkpoints or data are on, and what it costs.
struct FileSystem {
  Bytes capacity;
  UsdPerSecond rate;
};
FileSystem file_system(const RunSetup& setup, CheckpointTarget target, InputMode mode, std::optional<InputMode> chosen,
                       Bytes checkpoint, BytesPerSecond read) {
  if (!mounts(setup, target, mode, chosen)) return {};
  const StorageService* service = setup.facts->storage(storage_key(target));
  if (service == nullptr) return {};
  const bool saves = setup.checkpoint_target == target;
  const Bytes kept = saves ? checkpoint * setup.operations.checkpoints_kept : Bytes();
  const Bytes stored = kept + (chosen == mode ? setup.data->size : Bytes());
  const Bytes capacity =
      file_system_capacity(*service, stored, saves ? checkpoint : Bytes(), chosen == mode ? read : BytesPerSecond());
  return {capacity, service->storage * capacity};
}

/// 16-bit weights, as models are published; none where training starts from nothing.
Bytes base_weights(const Workload& workload) {
  if (workload.finetune == FineTune::Full && !workload.fine_tunes) return {};
  return Bytes(2.0 * static_cast<double>(count_parameters(workload.architecture).total()));
}

/// Every instance gets all of them at each start: a frozen base is in no checkpoint, and a script that fine-tunes all
/// weights builds the model from them before it loads a checkpoint.
Seconds fetch_base_weights(const RunSetup& setup, const Workload& workload, const InstanceType& instance,
                           std::int32_t instances, std::optional<InputMode> data_mode, Bytes capacity) {
  InputData weights;
  weights.size = base_weights(workload);
  if (!(weights.size > Bytes())) return {};
  // Beside the data where a file system is mounted, else a channel that is copied at the start.
  const bool mounted = data_mode == InputMode::FsxLustre || data_mode == InputMode::Efs;
  weights.mode = mounted ? *data_mode : InputMode::File;
  const InputPlan way = plan_input(weights, instance, instances, {}, capacity, *setup.facts, setup.operations);
  if (!mounted) return way.download;
  return way.storage > BytesPerSecond() ? weights.size * static_cast<double>(instances) / way.storage : Seconds();
}

void add_storage(const RunSetup& setup, const Workload& workload, const InstanceType& instance,
                 FlopsPerSecond device_peak, RunTerms& t) {
  const OperationFacts& facts = *setup.facts;
  const bool saves = setup.checkpoint_target != CheckpointTarget::None;
  const Bytes size = saves ? checkpoint_size(workload, t.format) : Bytes();
  const bool in_memory = setup.checkpoint_target == CheckpointTarget::Memory;
  const bool in_s3 = (setup.checkpoint_target == CheckpointTarget::S3 || in_memory) && facts.storage("s3") != nullptr;
  // The local disk holds the save that is being uploaded, the one before, and the model that training starts from.
  const Bytes saves_kept = in_s3 && !in_memory ? 2 * size / (t.format.one_writer ? 1.0 : t.instances) : Bytes();
  const Bytes kept_locally = saves_kept + base_weights(workload);
  BytesPerSecond most;
  const auto mounted = [&](CheckpointTarget target, InputMode mode, std::optional<InputMode> chosen) {
    return file_system(setup, target, mode, chosen, size, most);
  };
  std::optional<InputMode> mode;
  if (setup.data) {
    t.sequence_bytes = bytes_per_sequence(*setup.data, workload, setup.operations);
    const double devices = double{1} * std::max(1, instance.accelerator_count) * t.instances;
    most = most_needed(workload, t.sequence_bytes, device_peak * devices);
    t.input = choose_input(
        *setup.data, instance, t.instances, kept_locally, most,
        [&](InputMode m) {
          return m == InputMode::Efs ? mounted(CheckpointTarget::Efs, m, m).capacity
                                     : mounted(CheckpointTarget::FsxLustre, InputMode::FsxLustre, m).capacity;
        },
        facts, setup.operations);
    mode = t.input->mode;
  }
  const FileSystem fsx = mounted(CheckpointTarget::FsxLustre, InputMode::FsxLustre, mode);
  const FileSystem efs = mounted(CheckpointTarget::Efs, InputMode::Efs, mode);
  t.base_weights = fetch_base_weights(setup, workload, instance, t.instances, mode,
                                      mode == InputMode::Efs ? efs.capacity : fsx.capacity);
  t.file_system = fsx.rate + efs.rate;
  if (in_memory && in_s3) {
    t.checkpoint =
        memory_checkpoint_times(size, setup.checkpoint_mode, instance, t.instances, t.format.one_writer, facts);
    t.durable = checkpoint_times(size, CheckpointTarget::S3, CheckpointMode::Async, instance, t.instances,
                                 t.format.one_writer, {}, facts);
    t.durable->stall = Seconds();
    t.host_memory = memory_for_checkpoints(size, t.instances, t.format.one_writer);
  } else if (saves && facts.storage(storage_key(setup.checkpoint_target)) != nullptr) {
    const Bytes capacity = setup.checkpoint_target == CheckpointTarget::FsxLustre ? fsx.capacity : efs.capacity;
    t.checkpoint = checkpoint_times(size, setup.checkpoint_target, setup.checkpoint_mode, instance, t.instances,
                                    t.format.one_writer, capacity, facts);
  }
  const StorageService* s3 = facts.storage("s3");
  if (in_s3) {
    t.checkpoint_storage = s3->storage * size * setup.operations.checkpoints_kept;
    t.requests_per_save = s3->put * std::ceil(size / kPart);
  }
  if (setup.data) {
    const bool streams = mode == InputMode::File || mode == InputMode::FastFile || mode == InputMode::Pipe;
    const double copies = mode == InputMode::File ? t.instances : 1;
    const double epochs =
        mode == InputMode::File
            ? 1
            : std::max(1.0, t.sequence_bytes * (workload.tokens / static_cast<double>(workload.data_seq_len())) /
                                setup.data->size);
    const auto files = static_cast<double>(setup.data->files);
    if (streams && s3 != nullptr) {
      t.requests_for_data = s3->get * (std::max(files, std::ceil(setup.data->size / kPart)) * copies * epochs);
    }
    if (setup.data->other_region && s3 != nullptr) t.transfer = s3->other_region * setup.data->size * (copies * epochs);
  }
  const StorageService* volume = facts.storage("volume");
  if (!(instance.local_nvme > Bytes()) && volume != nullptr) {
    t.volume_size = t.input ? t.input->volume
                            : plan_input({}, instance, t.instances, kept_locally, {}, facts, setup.operations).volume;
    t.volume = volume->storage * t.volume_size * static_cast<double>(t.instances);
  }
}

/// A save costs the stall and, where it goes to S3, its requests; those count as the time that their price buys.
Seconds cheapest_interval(Seconds productive, Seconds step, const CheckpointTimes& saves, const RunTerms& t) {
  CheckpointTimes weighed = saves;
  const UsdPerSecond hourly = t.rate * static_cast<double>(t.instances);
  const bool durable = !t.durable || &saves == &*t.durable;
  if (durable && hourly > UsdPerSecond()) weighed.stall += t.requests_per_save / hourly;
  return best_interval(productive, step, weighed, t.interruptions.apart);
}

/// What is lost of `productive`, with saves at their best intervals.
LostTime lost_time(Seconds productive, Seconds step, const RunTerms& t, Seconds& durable_interval) {
  const CheckpointTimes* saves = t.checkpoint ? &*t.checkpoint : nullptr;
  if (t.recovery.mode == RecoveryMode::Checkpointless) {
    // A replica has the state of the step before.
    const CheckpointTimes replica;
    LostTime lost = expected_loss(productive, std::min(step, productive), &replica, t.interruptions);
    lost.interval = Seconds();
    if (saves != nullptr) {
      lost.interval = cheapest_interval(productive, step, *saves, t);
      lost.checkpoints = saves->stall * (productive / lost.interval);
    }
    return lost;
  }
  if (t.durable) durable_interval = cheapest_interval(productive, step, *t.durable, t);
  const Seconds interval = saves != nullptr ? cheapest_interval(productive, step, *saves, t) : productive;
  return expected_loss(productive, interval, saves, t.interruptions);
}

/// Amounts for a run whose times are all `scale` of the expected ones, start-up aside.
Bill bill_of(const RunCost& c, const RunTerms& t, double scale) {
  const UsdPerSecond used = t.rate * static_cast<double>(t.instances);
  const Seconds time = c.startup + scale * (c.productive + c.lost());
  const Seconds running = time - c.provisioning;
  Bill b;
  b.compute = used * c.productive * scale;
  b.startup = used * (c.startup - c.provisioning);
  b.checkpoints = used * c.loss.checkpoints * scale;
  b.rework = used * c.loss.rework * scale;
  b.restarts = used * (c.loss.restarts - c.loss.waiting) * scale;
  if (t.market == Market::CapacityBlock) {
    // What was bought stays bought; what takes longer is extended.
    const Seconds held = std::max(c.reserved, paid_time(t.market, running, t.plan_reclaim));
    const Usd paid = t.rate * static_cast<double>(t.paid_instances) * held;
    b.idle = paid - (b.compute + b.startup + b.checkpoints + b.rework + b.restarts);
  }
  b.volume = t.volume * running;
  b.file_system = t.file_system * time;
  b.checkpoint_storage = t.checkpoint_storage * time;
  // A reservation has the spares in it.
  if (t.market != Market::CapacityBlock) b.idle += t.rate * static_cast<double>(t.recovery.spares) * running;
  const Seconds interval = t.durable ? c.durable_interval : c.loss.interval;
  const double saves = interval > Seconds() ? c.productive / interval : 0;
  b.requests = t.requests_per_save * saves + t.requests_for_data;
  b.transfer = t.transfer;
  b.warm_pool = t.warm_pool;
  return b;
}

}  // namespace

RunSetup run_setup(const OperationFacts& facts, Market market, std::string region) {
  RunSetup setup;
  setup.market = market;
  setup.region = std::move(region);
  setup.facts = &facts;
  setup.operations = facts.values();
  return setup;
}

RunTerms run_terms(const RunSetup& setup, const Workload& workload, const InstanceType& instance,
                   std::int32_t instances, UsdPerSecond rate, const SaveFormat& format, FlopsPerSecond device_peak) {
  const Operations& o = setup.operations;
  RunTerms t;
  t.market = setup.market;
  t.recovery = setup.recovery;
  t.instances = instances;
  // What is sold in UltraServers comes in their sizes, not in blocks.
  const std::int32_t held = instances + setup.recovery.spares;
  t.paid_instances = instance.sold_in.empty() ? purchasable_instances(setup.market, held) : held;
  t.rate = rate;
  t.format = format;
  t.plan_reclaim = o.plan_reclaim;
  if (setup.facts != nullptr) add_storage(setup, workload, instance, device_peak, t);
  const Seconds download = t.input ? t.input->download : Seconds();
  const Seconds prepare = download + t.base_weights + o.model_init + o.first_step;
  const bool standing = is_standing(setup.recovery.platform);
  const auto jobs = static_cast<double>(std::max<std::int64_t>(1, setup.series.jobs));
  const double cold = setup.warm_pool ? 1 / jobs : 1;
  t.provisioning = standing ? Seconds() : o.provisioning * cold;
  t.startup = o.image_pull * cold + o.warm_start * (1 - cold) + prepare;
  if (setup.warm_pool) {
    const UsdPerSecond hourly = rate * static_cast<double>(instances);
    t.warm_pool = weigh_warm_pool(setup.series, o, hourly, setup.market).kept / jobs;
  }
  RestartTimes restart;
  restart.fetch = o.image_pull + download + t.base_weights;
  restart.set_up = o.model_init + o.first_step;
  if (t.checkpoint) restart.load = t.checkpoint->load;
  const Interruptions failures = hardware_failures(setup, instance, instances, restart);
  const Interruptions reclaims = spot_reclaims(setup, instance, instances, restart);
  const Interruptions evicted = evictions(setup, restart);
  t.interruptions = combined(combined(failures, reclaims), evicted);
  const auto share = [&](const Interruptions& some) {
    return some.apart > Seconds() ? t.interruptions.apart / some.apart : 0;
  };
  if (reclaims.apart > Seconds() || evicted.apart > Seconds()) t.failure_share = share(failures);
  t.eviction_share = share(evicted);
  return t;
}

Usd RunCost::cost_at(double confidence) const {
  const Usd end = confidence < 0.5 ? low : high;
  if (!(total() > Usd()) || !(end > Usd())) return total();
  return total() * std::exp(std::abs(std::log(end / total())) * normal_quantile(confidence) / kZ90);
}

double RunCost::cost_probability(Usd limit) const {
  if (!(limit > Usd())) return 0;
  const Usd end = limit < total() ? low : high;
  const double sigma = total() > Usd() && end > Usd() ? std::abs(std::log(end / total())) / kZ90 : 0;
  if (!(sigma > 0)) return total() <= limit ? 1 : 0;
  return std::erfc(-std::log(limit / total()) / sigma / std::sqrt(2.0)) / 2;
}

RunCost estimate_cost(const StepEstimate& step, const Workload& workload, const RunTerms& terms) {
  RunCost c;
  c.productive = std::ceil(workload.tokens / workload.tokens_per_step()) * step.time();
  if (terms.input) {
    c.input = terms.input;
    const Bytes read = terms.sequence_bytes * (workload.tokens / static_cast<double>(workload.data_seq_len()));
    if (c.productive > Seconds()) c.input->needed = read / c.productive;
    if (c.input->delivered > BytesPerSecond()) c.productive = std::max(c.productive, read / c.input->delivered);
  }
  c.provisioning = terms.provisioning;
  c.startup = terms.provisioning + terms.startup;
  c.checkpoint = terms.checkpoint;
  c.volume_size = terms.volume_size;
  if (c.productive > Seconds()) {
    c.loss = lost_time(c.productive, step.time(), terms, c.durable_interval);
  }
  c.failures = c.loss.interruptions * terms.failure_share;
  c.evictions = c.loss.interruptions * terms.eviction_share;
  c.reclaims = terms.market == Market::Spot ? std::max(0.0, c.loss.interruptions - c.failures - c.evictions) : 0;
  c.goodput = c.productive / c.time_to_train();
  c.hourly = terms.rate * static_cast<double>(terms.instances + terms.recovery.spares);
  c.standing = is_standing(terms.recovery.platform);
  if (terms.market == Market::CapacityBlock) {
    c.reserved = paid_time(terms.market, c.time_to_train() - c.provisioning, terms.plan_reclaim);
  }
  c.bill = bill_of(c, terms, 1);
  c.spread = run_spread(step, c.time_to_train(), c.loss.deviation);
  const Seconds varies = c.productive + c.lost();
  const auto cost_at = [&](double confidence) {
    const double scale = varies > Seconds() ? (c.spread.at(confidence) - c.startup) / varies : 1;
    const Usd by_time = bill_of(c, terms, std::max(0.0, scale)).total();
    if (terms.price_sigma <= 0 || !(by_time > Usd())) return by_time;
    // Time and price are independent, their logarithms add.
    const double price = terms.price_sigma * normal_quantile(confidence);
    const double spread = std::hypot(std::log(by_time / c.total()), price);
    return c.total() * std::exp(std::copysign(spread, price));
  };
  c.low = cost_at(0.1);
  c.high = cost_at(0.9);
  c.by_training_plan = terms.market == Market::CapacityBlock;
  c.unsafe = terms.market == Market::Spot && !terms.checkpoint && c.productive > hours(kSpotWithoutCheckpointHours);
  return c;
}

}  // namespace smplan
