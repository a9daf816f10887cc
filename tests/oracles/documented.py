"""Keys that the frameworks document. An export that uses another one is wrong, or this list is out of date."""

# microsoft/DeepSpeed v0.19.5, docs/_pages/config-json.md
DEEPSPEED = {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping", "bf16",
             "fp16", "zero_optimization", "activation_checkpointing", "steps_per_print"}
# runtime/zero/config.py: unknown keys are refused by the library itself
DEEPSPEED_ZERO = {"stage", "overlap_comm", "contiguous_gradients", "reduce_scatter", "reduce_bucket_size",
                  "allgather_bucket_size", "offload_optimizer", "offload_param", "stage3_prefetch_bucket_size",
                  "stage3_param_persistence_threshold", "stage3_max_live_parameters", "stage3_max_reuse_distance",
                  "stage3_gather_16bit_weights_on_model_save", "sub_group_size", "zero_hpz_partition_size", "mics_shard_size"}
# huggingface/accelerate v1.14.0, commands/config/config_args.py and utils/dataclasses.py
ACCELERATE = {"compute_environment", "debug", "distributed_type", "mixed_precision", "fsdp_config", "parallelism_config",
              "deepspeed_config", "num_machines", "num_processes", "machine_rank", "main_training_function", "rdzv_backend",
              "same_network", "use_cpu", "main_process_ip", "main_process_port", "downcast_bf16"}
FSDP_CONFIG = {"fsdp_version", "fsdp_reshard_after_forward", "fsdp_auto_wrap_policy", "fsdp_transformer_layer_cls_to_wrap",
               "fsdp_offload_params", "fsdp_activation_checkpointing", "fsdp_cpu_ram_efficient_loading", "fsdp_state_dict_type"}
# pytorch/torchtitan v0.2.2, torchtitan/config/job_config.py
TORCHTITAN = {
    "job": {"config_file", "dump_folder", "description"},
    "model": {"name", "flavor", "hf_assets_path", "converters"},
    "optimizer": {"name", "lr", "beta1", "beta2", "eps", "weight_decay"},
    "training": {"dataset", "dataset_path", "local_batch_size", "global_batch_size", "seq_len", "max_norm", "steps", "enable_cpu_offload",
                 "mixed_precision_param", "mixed_precision_reduce"},
    "parallelism": {"data_parallel_replicate_degree", "data_parallel_shard_degree", "fsdp_reshard_after_forward",
                    "tensor_parallel_degree", "pipeline_parallel_degree", "pipeline_parallel_schedule",
                    "pipeline_parallel_layers_per_stage", "pipeline_parallel_microbatch_size",
                    "pipeline_parallel_first_stage_less_layers", "pipeline_parallel_last_stage_less_layers",
                    "context_parallel_degree",
                    "expert_parallel_degree", "expert_tensor_parallel_degree"},
    "activation_checkpoint": {"mode", "selective_ac_option"},
    "compile": {"enable", "components"},
    "checkpoint": {"enable", "folder", "interval"},
}
# NVIDIA/Megatron-LM d98e8a6, megatron/training/arguments.py: what follows the name
MEGATRON = {
    **dict.fromkeys(("num-layers", "hidden-size", "ffn-hidden-size", "num-attention-heads", "num-query-groups", "kv-channels",
                     "seq-length", "max-position-embeddings", "num-experts", "moe-router-topk", "moe-ffn-hidden-size",
                     "moe-shared-expert-intermediate-size", "q-lora-rank", "kv-lora-rank", "qk-head-dim", "qk-pos-emb-head-dim",
                     "v-head-dim", "tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size",
                     "num-virtual-stages-per-pipeline-rank", "expert-model-parallel-size", "expert-tensor-parallel-size",
                     "num-distributed-optimizer-instances", "micro-batch-size", "global-batch-size", "train-iters",
                     "recompute-num-layers", "cpu-offloading-num-layers", "save-interval",
                     "window-attn-skip-freq", "mamba-num-heads", "mamba-head-dim", "mamba-num-groups", "mamba-state-dim",
                     "moe-latent-size", "mtp-num-layers", "linear-attention-freq", "linear-num-value-heads",
                     "linear-value-head-dim", "linear-num-key-heads", "linear-key-head-dim", "linear-conv-kernel-dim"), "count"),
    **dict.fromkeys(("group-query-attention", "moe-grouped-gemm", "moe-shared-expert-gate", "multi-latent-attention",
                     "swiglu", "disable-bias-linear", "add-qkv-bias", "qk-layernorm", "untie-embeddings-and-output-weights", "sequence-parallel",
                     "tp-comm-overlap", "use-distributed-optimizer", "overlap-grad-reduce", "overlap-param-gather", "optimizer-cpu-offload",
                     "use-precision-aware-optimizer", "bf16", "fp16", "squared-relu", "apply-layernorm-1p",
                     "attention-output-gate", "mtp-use-repeated-layer"), "flag"),
    **dict.fromkeys(("normalization", "position-embedding-type", "moe-token-dispatcher-type", "moe-layer-freq",
                     "recompute-granularity", "recompute-method", "optimizer-offload-fraction", "fp8-format", "fp4-format",
                     "transformer-impl", "attention-backend", "distributed-backend", "optimizer", "lr", "data-path",
                     "tokenizer-type", "tokenizer-model", "save", "load", "ckpt-format", "pipeline-model-parallel-layout",
                     "rotary-base", "rotary-percent", "attention-dropout", "hidden-dropout", "window-size",
                     "hybrid-layer-pattern", "spec", "experimental-attention-variant"), "word"),
}
# SageMaker Developer Guide, model parallelism library v2 reference and v1 (archived)
SMP_V2 = {"hybrid_shard_degree", "sm_activation_offloading", "activation_loading_horizon", "fsdp_cache_flush_warnings",
          "allow_empty_shards", "tensor_parallel_degree", "context_parallel_degree", "expert_parallel_degree", "random_seed"}
SMP_V1 = {"partitions", "tensor_parallel_degree", "microbatches", "pipeline", "placement_strategy", "ddp",
          "sharded_data_parallel_degree", "shard_optimizer_state", "offload_activations", "activation_loading_horizon", "fp16", "bf16"}
# aws-neuron: neuronx_distributed_config
NEURONX = {"tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size", "sequence_parallel", "optimizer_config",
           "pipeline_config", "activation_checkpoint_config"}
# aws/sagemaker-hyperpod-recipes v1.5.1, model section of the Hugging Face recipes
RECIPE_MODEL = {"model_type", "train_batch_size", "tensor_model_parallel_degree", "expert_model_parallel_degree",
                "context_parallel_degree", "moe", "activation_checkpointing", "activation_loading_horizon", "delayed_param",
                "offload_activations", "sharding_strategy", "shard_degree", "forward_prefetch", "backward_fetch_policy",
                "limit_all_gathers", "use_orig_param", "fp8", "max_context_width", "num_hidden_layers", "hidden_size",
                "num_attention_heads", "num_key_value_heads", "intermediate_size", "vocab_size", "num_local_experts",
                "rope_theta", "num_experts_per_tok", "do_finetune", "hf_model_name_or_path", "peft", "data"}
