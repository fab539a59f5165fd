"""The words of a trace in Kineto's shape."""

HOST_CATEGORIES = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "cpu_instant_event", "python_function", "overhead",
                   "external_correlation", "mtia_runtime", "glow_runtime", "xpu_runtime", "xpu_driver", "privateuse1_runtime",
                   "privateuse1_driver"}
DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "cuda_event", "cuda_profiler_range",
                     "mtia_ccp_events", "mtia_insight", "mtia_counters", "hpu_op", "collective_comm", "xpu_scope_profiler", "xpu_sync",
                     "hardware_counters"}
FLOW_CATEGORIES = {"ac2g", "fwdbwd"}
CATEGORIES = HOST_CATEGORIES | DEVICE_CATEGORIES | FLOW_CATEGORIES | {"Trace"}
OP_CATEGORIES = {"cpu_op", "user_annotation"}
LAUNCH_CATEGORIES = {"cuda_runtime", "cuda_driver"}
WORK_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}
STRING_PIDS = ("Spans", "Traces", "")
PHASES = {"X", "i", "C", "M", "s", "f", "b", "e"}
METADATA = {"process_name": ("name", str), "process_labels": ("labels", str), "process_sort_index": ("sort_index", int),
            "thread_name": ("name", str), "thread_sort_index": ("sort_index", int)}
