#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/accelerator.hpp"
#include "catalogs/execution.hpp"
#include "catalogs/profile.hpp"
#include "catalogs/provenance.hpp"
#include "catalogs/stack_profile.hpp"

namespace smplan {

/// Which state each data-parallel rank keeps to itself. Names as the frameworks use them.
enum class Sharding {
  None,        ///< DDP: every rank holds everything
  Zero1,       ///< optimizer states sharded (Megatron's distributed optimizer too)
  Zero2,       ///< + gradients
  Zero3,       ///< + parameters (DeepSpeed)
  FsdpFull,    ///< FULL_SHARD: as Zero3, per wrapped unit
  FsdpGradOp,  ///< SHARD_GRAD_OP: parameters stay gathered between forward and backward
  FsdpHybrid,  ///< HYBRID_SHARD / SMP hybrid_shard_degree: full inside `shard_degree`, replicated across
};
std::string_view to_string(Sharding sharding);
std::optional<Sharding> sharding_from(std::string_view name);
bool is_fsdp(Sharding sharding);

enum class Recompute { None, Selective, Full };
std::string_view to_string(Recompute recompute);
std::optional<Recompute> recompute_from(std::string_view name);

enum class Schedule { GPipe, OneFOneB, Interleaved, ZeroBubble };
std::string_view to_string(Schedule schedule);
std::optional<Schedule> schedule_from(std::string_view name);

enum class Collectives { Nccl, Smddp };
std::string_view to_string(Collectives collectives);
std::optional<Collectives> collectives_from(std::string_view name);

/// The recipes of HyperPod that only one stack has.
enum class RecipeFamily {
  None,
  Nemo,     ///< checkpointless NeMo
  Adapter,  ///< the adapter over plain FSDP
};

/// A training framework: what it can express, what it does by default, and what of that a job switched.
struct Stack {
  std::string id;                    ///< `megatron`, `fsdp`, ...
  std::string name;                  ///< `Megatron-LM / NeMo / Megatron-Bridge`
  std::vector<std::string> aliases;  ///< other names, as measured runs and users spell them
  /// Of aliases that promise more than the stack is planned with: the alias, and what is not modelled.
  std::vector<std::pair<std::string, std::string>> alias_notes;
  bool tensor_parallel = false;
  bool sequence_parallel = false;
  bool always_sequence_parallel = false;  ///< tensor ranks always divide the sequence too
  bool pipeline_parallel = false;
  bool context_parallel = false;
  bool expert_parallel = false;
  bool state_mixers = false;          ///< has kernels for layers of Mamba-2 and the gated delta rule
  std::vector<Sharding> shardings;    ///< allowed; the first is the default
  std::vector<Recompute> recomputes;  ///< allowed; the first is the default
  bool partial_recompute = false;     ///< full recomputation of some of the layers of a chunk
  std::vector<Schedule> schedules;
  std::vector<Collectives> collectives;
  std::vector<std::string> offloads;  ///< `none`, `optimizer`, `params`, `activations`; `nvme`: the first two there
  std::vector<Vendor> vendors;        ///< of the devices that it is built for
  /// Activations leave the device only without a pipeline and without recomputation (Megatron Core).
  bool offloads_activations_alone = false;
  /// Ten times the compute capability of an NVIDIA device that its kernels need, as Accelerator::capability() has it.
  int least_capability = 0;
  /// Activations are copied to the host and back on the stream that computes, so that nothing hides it: PyTorch's
  /// torch.autograd.graph.save_on_cpu.
  bool offload_waits = false;
  std::vector<std::string> precisions;
  /// Bytes per parameter of the replica that holds them, mixed precision (bf16/fp16).
  double weight_bytes = 2;
  double gradient_bytes = 2;         ///< as kept between micro-batches
  double gradient_reduce_bytes = 2;  ///< on the wire
  double master_bytes = 4;           ///< fp32 copy beside the 16-bit weights; 0 if the weights are fp32
  /// Bytes of logits, log-probabilities and their gradient per token and vocabulary entry.
  double logits_bytes = 4;
  double fused_logits_bytes = 4;     ///< the same under the framework's own fused cross-entropy on all logits at once
  double parallel_logits_bytes = 4;  ///< the same of a slice where tensor-parallel ranks share the vocabulary
  /// Bytes per token and vocabulary entry that PyTorch's allocator holds for nobody while the fp32 loss peaks: those of
  /// the 16-bit logits (scripts/fit/fsdp_memory.py).
  double idle_logits_bytes = 2;
  /// Bytes that the loss reads and writes for each logit, operation by operation; 0: not counted, and taken as what it
  /// keeps, each way.
  double loss_forward_bytes = 0;
  double loss_backward_bytes = 0;
  /// Rank of adapters where a run does not say: what the framework's own scripts set.
  std::int64_t usual_lora_rank = 16;
  /// The vocabulary is padded to a multiple of this on every tensor rank (Megatron's make_vocab_size_divisible_by).
  std::int64_t vocab_multiple = 1;
  AttentionKernel attention_kernel = AttentionKernel::Flash2;
  bool flash_attention = true;
  /// Expert dispatch sends a token once to a node and once to a rank, however many of its experts are there.
  bool deduplicated_dispatch = false;
  bool deepspeed_engine = false;  ///< DeepSpeed holds and reduces the states, not the stack itself
  /// Gradients that DeepSpeed reduces at a time (`reduce_bucket_size`, by its default).
  double reduce_bucket_elements = 5e8;
  /// Rank 0 writes checkpoints whole (torch.save); else every rank writes its part, replicas too.
  bool one_writer = false;
  /// FSDP accumulates without synchronising (`no_sync`): until the last micro-batch every rank holds the gradients of
  /// all its parameters whole, of frozen ones too.
  bool whole_gradients = false;
  /// Adapters lie in the units of their layers, so that FSDP holds gradients of all that a unit has; else in their own.
  bool adapters_share_units = false;
  /// FSDP shards each expert by itself, so that one is gathered at a time; else with its layer.
  bool expert_units = false;
  /// A layer runs its experts one after the other, each in kernels of its own, and ZeRO's third stage fetches the
  /// matrices of each apart: Transformers' modules.
  bool loops_over_experts = false;
  std::int32_t loops_over_experts_before = 0;  ///< release that ended this; 0: none
  /// Pipeline stages are cut by weights that multiply a token, the output head's among them; else by layers.
  bool stages_by_weights = false;
  /// The peak memory that it writes is that of rank 0's allocator, which is on the first pipeline stage.
  bool reports_rank_zero = false;
  /// With sharded optimizer states gradients are all-reduced whole after the backward pass and weights gathered after
  /// the update: neither hides beside a pass.
  bool synchronous_zero = false;
  /// Gradients are reduced once the last backward pass has ended, and weights gathered after the update.
  bool synchronous_reduction = false;
  /// Each rank of a tensor group sends its slice of a stage's output on; the next stage's group gathers them.
  bool scattered_sends = false;
  /// Products of fp32 tensors run in bf16 (the Neuron compiler's default); everything else keeps fp32.
  bool casts_fp32_products = false;
  /// Devices of one instance alone, by processes of one machine (MirroredStrategy).
  bool one_node = false;
  /// One device of each instance computes, whatever else it has; servers on the same instances hold the weights, and
  /// each worker exchanges gradients for weights with them over TCP: a parameter server as SageMaker starts it.
  bool parameter_server = false;
  /// Recipes of HyperPod that are this stack's own; others serve every stack that shards alike.
  RecipeFamily hyperpod_recipe = RecipeFamily::None;
  /// Of SageMaker's model parallel library that it is: which parameters it takes and where it runs; 0: another library.
  int smp_version = 0;
  /// Tensor and context ranks overlap traffic by the order of launches, which one hardware queue keeps
  /// (CUDA_DEVICE_MAX_CONNECTIONS=1).
  bool one_hardware_queue = false;
  /// The split stands in a file or in arguments of its own (megatron_args.txt, torchtitan.toml), not in the job.
  bool split_in_own_file = false;
  std::vector<std::string> packages;  ///< of PyPI, that its scripts import and SageMaker's images lack
  bool own_adapters = false;          ///< makes and quantizes adapters without peft, bitsandbytes and Liger's package
  bool joins_adapters = false;  ///< adapters of its fused projections: of queries, keys and values, of gate and up
  bool quantized_base = false;  ///< trains adapters over 4-bit weights (bitsandbytes)
  /// Element-wise chains run as one kernel and gathered inputs are gathered again in the backward pass:
  /// fewer tensors are saved. False for eager PyTorch models.
  bool fused_kernels = true;
  /// Tensor and pipeline ranks are PyTorch's own (DTensor, torch.distributed.pipelining): gathered inputs and partial
  /// sums of gradients stand whole, and a stage holds a buffer for every micro-batch that it receives.
  bool torch_parallelism = false;
  /// A compiler places all tensors ahead (XLA): no caching allocator holds blocks that nothing fits.
  bool placed_memory = false;
  /// FSDP2: a unit is gathered into a buffer of its own stream and its parameters are copied out of that.
  bool copies_gathered = false;
  /// Products and the collectives of tensor ranks overlap through Transformer Engine's Userbuffers, where
  /// tensor_overlap is not zero: a product that waits for gathered inputs, or whose sums are scattered, runs in as many
  /// parts as ranks.
  bool userbuffers = false;
  /// Layers are plain PyTorch code (Transformers, torchtune, LitGPT): norms compute in fp32 and keep what they compute,
  /// so does the softmax of stored scores, and keys and values are repeated for every query head.
  bool plain_layers = false;
  /// Layers are Transformers' modules: queries, keys and values are products of their own, and GELU's tanh form is
  /// computed operation by operation where the model's public code does (gelu_new).
  bool transformers_layers = false;
  /// Fused attention takes fewer heads of keys and values as they are where no mask tells padding.
  bool grouped_attention = false;
  std::int32_t grouped_attention_since = 0;  ///< release, as Execution has it, that began this; 0: always
  /// Weights are fp32 and PyTorch's autocast runs products in 16 bits and norms in 32.
  bool autocast = false;
  /// One product makes queries, keys and values, and adapters scatter into it (LitGPT): both outputs stay whole.
  bool fused_qkv = false;
  /// Norms and gates run as Liger's kernels, which write the gate's gradients over its inputs (Hsu et al. 2024).
  bool liger_kernels = false;
  /// Recomputation stops once all that the backward pass reads is there: what only makes the layer's output does not
  /// run again (torch.utils.checkpoint without re-entrance since PyTorch 2.1; compilers drop it as dead code).
  bool checkpoint_stops_early = false;
  bool fused_optimizer = false;            ///< updates in place; torch's default holds a list of temporaries
  std::int32_t fused_optimizer_since = 0;  ///< release, as Execution has it, that made this the default; 0: always
  bool adapter_dropout = false;            ///< adapters drop out a copy of their input, whose mask stays
  /// Beside a 4-bit base all other weights are cast to fp32, and so are hidden states (PEFT's
  /// prepare_model_for_kbit_training, which TRL and Axolotl call).
  bool casts_beside_four_bits = false;
  bool adapter_copies = false;  ///< adapters in fp32 under autocast: each reads a 16-bit copy of its input (PEFT 0.12)
  /// 4-bit weights as Lightning Fabric holds them: the head's too; inputs of frozen products stay.
  bool lightning_quantization = false;
  bool supported_for_planning = true;      ///< false: known, but frozen or superseded; planned only when named
  bool supported_for_fine_tuning = false;  ///< what people fine-tune with: planned there without being named
  double usual_from_parameters = 0;        ///< people train smaller models with others: planned there only when named
  std::string versions;                    ///< versions and instances that it runs on, for people
  std::string limitation;                  ///< what it cannot do, for messages
  /// Another stack whose kernels and collectives this one runs, and so whose profile it takes; empty: its own.
  std::string runs_like;
  /// What of an Execution the framework can be told: of each one member is set.
  std::vector<Execution> offers;
  /// What the job switched. Of a framework as the catalog has it nothing; see executed() in models/job/execution.hpp.
  Execution execution;
  /// From the catalog's `stack_profiles` where they have one for this stack, else from the entry itself.
  StackProfile profile;
  Provenance provenance;
  /// Format that the matrix products of a run in `precision` have.
  [[nodiscard]] Precision product_precision(Precision precision) const {
    return casts_fp32_products && precision == Precision::Fp32 ? Precision::Bf16 : precision;
  }
  /// Devices of an instance with so many that the stack uses.
  [[nodiscard]] std::int32_t devices_used(std::int32_t accelerators) const {
    return parameter_server ? 1 : accelerators;
  }
  /// What is not modelled of the alias, in whatever case and with whatever marks; empty: nothing to say.
  [[nodiscard]] std::string note_on(std::string_view alias) const;
  [[nodiscard]] bool is_built_for(Vendor vendor) const;
  /// Whether it is built for the vendor's devices and its kernels for this generation. One whose capability nobody has
  /// published is newer than the kernels' oldest.
  [[nodiscard]] bool runs_on(const Accelerator& accelerator) const;
  friend bool operator==(const Stack&, const Stack&) = default;
};

Stack read_stack(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
