// A dump, a log, stacks and a monitor's report, to be mutated.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace allranks::tests {

using namespace std::string_literals;

// {"version": "2.4", "pg_config": {}, "entries": [{"profiling_name": "nccl:all_reduce", "state": "started",
//  "collective_seq_id": 3, "frames": [{"filename": "/job/train.py", "line": 7, "name": "main"}]}]}
inline const std::string kPickle =
    "\x80\x02}(X\x07\0\0\0versionq\0X\x03\0\0\0"s + "2.4X\x09\0\0\0pg_config}X\x07\0\0\0entries](}(X\x0e\0\0\0profiling_nameX\x0f\0\0\0nccl:all_reduceX\x05\0\0\0stateX\x07\0\0\0startedX\x11\0\0\0"s +
    "collective_seq_idK\x03X\x06\0\0\0"s + "frames](}(X\x08\0\0\0"s + "filenameX\x0d\0\0\0/job/train.pyX\x04\0\0\0lineK\x07X\x04\0\0\0nameX\x04\0\0\0mainueueu."s;

inline const std::string kLog =
    "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, "
    "NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n"
    "[rank1]: [PG ID 0 PG GUID 0(default_pg) Rank 1] Exception (either an error or timeout) detected by watchdog at work: 8, last enqueued "
    "NCCL work: 11, last completed NCCL work: 7.\nStack trace of the failed collective:\n#0 all_reduce from torch/distributed.py:9\n#1 f from /job/a.py:3\n"
    "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/job/a.py\", line 4, in g\n[rank0]:     raise ValueError\n[rank0]: ValueError: x\n"
    "Ranks 1, 2 failed to pass monitoredBarrier in 1000 ms\n"
    "Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(OpType=BROADCAST, TensorShape=[4]), "
    "but Rank 0 is running collective: CollectiveFingerPrint(OpType=ALLREDUCE, TensorShape=[4]).\n";

inline const std::string kStacks =
    "Process 7: python train.py\nThread 7 (active): \"MainThread\"\n    all_reduce (torch/distributed/distributed_c10d.py:9)\n    f (train.py:3)\n"
    "== rank 1 ==\nThread 0x00007f (most recent call first):\n  File \"/job/a.py\", line 4 in g\n\n";

inline const std::array<std::string, 5> kRecordings = {
    kPickle,
    R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},"pg_status":{"0":{"last_enqueued_collective":3}},)"
    R"("entries":[{"record_id":1,"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":2,"profiling_name":"nccl:send 0->1",)"
    R"("is_p2p":true,"state":"scheduled","input_sizes":[[4,2]],"input_dtypes":["Float"],"retired":false}]})",
    kLog,
    kStacks,
    R"({"nccl_version":"2.28.9","communicators":[{"hash":"a","ranks":[{"rank":0,"collective_counts":{"AllReduce":3}},)"
    R"({"rank":1,"collective_counts":{"AllReduce":2}}],"missing_ranks":[{"rank":2,"nvml_dev":3 "status":{"considered_dead":true}}]}]})"};

constexpr std::array<std::string_view, 24> kRecordingPieces = {
    "(", "]", "}", "e", "u", "q\x01", "h\x01", "X\x04", "K\x07", "\x94", "\x95", "cos\nsystem\n", "R", "b", "{", "[", "\"", ",", "\n",
    "[rank7]:", "SeqNum=", "-1", "99999999999999999999", "\xff"};

constexpr int kRecordingRounds = 3000;

}  // namespace allranks::tests
