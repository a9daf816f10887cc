"""What is known of published configurations that smplan says not to fit, each with where it is known from."""

QWEN_32B = ("AWS ran it on 2 instances from 2025-12-03 to 2026-05-15 and moved it to 1 in the release of 2026-06-22. Weights, "
            "gradients and Adam's states take 16 bytes a parameter in mixed precision, 8 where all are 16-bit; the recipe "
            "states no precision. (git history of aws/sagemaker-hyperpod-recipes)")

REMARKS = {
    "R001": "AWS's adapter shards each expert by itself (it wraps DeepseekV3MLP beside the layer), so that one expert is "
            "gathered at a time; smplan gathers layers, which hold 256 of them. "
            "(aws/sagemaker-hyperpod-training-adapter-for-nemo, utils/fsdp_utils.py, get_transformer_layer)",
    "R128": "NeMo cuts experts by tensor parallelism too unless told otherwise (expert_tensor_parallel_size); smplan's experts "
            "are whole where expert parallelism is on. (NVIDIA/Megatron-LM, parallel_state.py)",
    "R187": QWEN_32B,
    "R211": QWEN_32B,
}
