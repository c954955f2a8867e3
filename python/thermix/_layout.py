# SPDX-License-Identifier: GPL-3.0-or-later
"""The structs of include/thermix/policy.h and option.h for ctypes; a test compares every offset with C."""

import ctypes
import operator
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint,
                    c_uint64, c_void_p)

SLOTS, KQUEUE, N_FAN_MEMORY, N_ROW_MEMORY = 8, 32, 2, 8
NO_JOB = 2 ** (8 * ctypes.sizeof(c_size_t)) - 1
LEVELS = ("job", "place", "mix", "dtm", "cta", "tb", "gate", "fan", "route", "row")  # enum tmx_level
OPT_REAL, OPT_TEXT = 1, 3  # of enum tmx_opt_type


class Opt(Structure):
    c_name = "tmx_opt"
    _fields_ = [("key", c_char_p), ("type", c_int), ("offset", c_size_t), ("unit", c_char_p), ("min", c_double),
                ("max", c_double), ("def", c_double), ("doc", c_char_p), ("def_text", c_char_p),
                ("choices", c_void_p), ("is_file", c_bool), ("is_name", c_bool)]


class Plugin(Structure):
    c_name = "tmx_plugin"
    _fields_ = [("name", c_char_p), ("doc", c_char_p), ("source", c_char_p), ("opts", POINTER(Opt)),
                ("state_size", c_size_t), ("rests", c_uint)]


class JobView(Structure):
    c_name = "tmx_job_view"
    _fields_ = [("kernel", c_void_p), ("arrival_s", c_double), ("priority", c_int), ("state", c_int), ("gpus", c_size_t),
                ("work_sm_s", c_double), ("done_sm_s", c_double), ("pdi_w", c_double), ("pdi_valid", c_bool),
                ("width_sms", c_size_t), ("queue_order", c_uint64), ("home_gpu", c_size_t), ("n_gpu", c_size_t)]


class GpuView(Structure):
    c_name = "tmx_gpu_view"
    _fields_ = [("sm0", c_size_t), ("n_sm", c_size_t), ("level", c_size_t), ("n_level", c_size_t),
                ("run", c_size_t * SLOTS), ("n_run", c_size_t), ("queue", c_size_t * KQUEUE), ("n_queue", c_size_t),
                ("share", c_double), ("n_part", c_size_t), ("part", c_double * SLOTS), ("admit_share", c_double),
                ("card0", c_size_t), ("n_card", c_size_t), ("reasons", c_uint)]


class SyncJobView(Structure):
    c_name = "tmx_sync_job_view"
    _fields_ = [("n_member", c_size_t), ("gpu", POINTER(c_size_t)), ("compute_s", POINTER(c_double)), ("n_step", c_uint64)]


class NodeView(Structure):
    c_name = "tmx_node_view"
    _fields_ = [("n_gpu", c_size_t), ("n_sm", c_size_t), ("n_job", c_size_t), ("n_arrived", c_size_t),
                ("first_unfinished", c_size_t), ("last_home", c_size_t), ("gpus", POINTER(POINTER(GpuView))),
                ("jobs", POINTER(POINTER(JobView))), ("sync_job", POINTER(SyncJobView))]


class BoardView(Structure):
    c_name = "tmx_board_view"
    _fields_ = [("power_w", c_double), ("power_min_w", c_double), ("target_c", c_double), ("slowdown_c", c_double),
                ("shutdown_c", c_double), ("memory_c", c_double), ("n_level", c_size_t), ("speed", POINTER(c_double)),
                ("volt", POINTER(c_double)), ("nominal_hz", c_double)]


class View(Structure):
    c_name = "tmx_view"
    _fields_ = [("tick", c_uint64), ("time_s", c_double), ("node", POINTER(NodeView)),
                ("sensed_k", POINTER(c_double)), ("hottest_k", POINTER(c_double)), ("quantum_s", c_double),
                ("dt_s", c_double), ("limit_k", c_double), ("outlook", c_void_p), ("board_w", POINTER(c_double)),
                ("inlet_k", POINTER(c_double)), ("memory_k", POINTER(c_double)), ("board", POINTER(BoardView))]


class Answer(Structure):
    """What a policy may write: fields that there are, with numbers that fit."""

    __slots__ = ()

    def __setattr__(self, name, value):
        kind = next((field[1] for field in self._fields_ if field[0] == name), None)
        if kind is None:
            raise AttributeError(f"{self.c_name} has no {name!r}; there is {', '.join(f[0] for f in self._fields_)}")
        if kind in (c_size_t, c_uint, c_uint64, c_int):
            value, bits = operator.index(value), 8 * ctypes.sizeof(kind)
            if not (0 <= value < 2 ** (bits - (kind is c_int))):
                raise ValueError(f"{name} = {value}: expected 0 or more, below 2**{bits - (kind is c_int)}")
        super().__setattr__(name, value)


class GpuRequest(Answer):
    __slots__ = ()
    c_name = "tmx_gpu_request"
    _fields_ = [("admit", c_size_t), ("share", c_double), ("n_part", c_size_t), ("part", c_double * SLOTS),
                ("level", c_size_t), ("n_active", c_size_t),
                ("rest", c_double), ("late_s", c_double), ("late_level", c_size_t), ("power_cap_w", c_double),
                ("reasons", c_uint)]


class Request(Structure):
    c_name = "tmx_request"
    _fields_ = [("gpu", POINTER(GpuRequest)), ("gate", POINTER(c_bool)), ("memory", POINTER(c_double))]


class Spread(Structure):
    c_name = "tmx_spread"
    _fields_ = [("n", c_size_t), ("by_index", POINTER(c_size_t)), ("hot_order", POINTER(c_size_t)),
                ("share", c_double), ("first_is_hot", c_bool), ("begin_s", c_double), ("end_s", c_double),
                ("sm0", c_size_t), ("memory", POINTER(c_double))]


class FanPoint(Structure):
    c_name = "tmx_fan_point"
    _fields_ = [("temp_c", c_double), ("speed", c_double)]


class FanView(Structure):
    c_name = "tmx_fan_view"
    _fields_ = [("view", POINTER(View)), ("min_rpm", c_double), ("max_rpm", c_double), ("curve", POINTER(FanPoint)),
                ("n_curve", c_size_t), ("hottest_c", c_double), ("speed", c_double), ("dt_s", c_double),
                ("memory", POINTER(c_double))]


class CtaCore(Structure):
    c_name = "tmx_cta_core"
    _fields_ = [("state", c_int), ("n_block", c_int), ("stall_cycles", c_double), ("latency_cycles", c_double)]


class CtaView(Structure):
    c_name = "tmx_cta_view"
    _fields_ = [("cycle", c_double), ("n_core", c_size_t), ("core", POINTER(CtaCore)), ("blocks_left", c_uint64),
                ("first_done_cycle", c_double), ("drained", POINTER(c_size_t)), ("n_drained", c_size_t),
                ("base_latency_cycles", c_double), ("ipc_share", c_double), ("bandwidth_share", c_double),
                ("good_to_bad", c_double)]


class CtaRequest(Answer):
    __slots__ = ()
    c_name = "tmx_cta_request"
    _fields_ = [("state", POINTER(c_int)), ("accept", POINTER(c_bool)), ("block_limit", c_int),
                ("core_clock", c_double), ("memory_clock", c_double), ("wake_cycle", c_double),
                ("reset_counters", c_bool), ("watch_blocks", c_bool)]


class InstanceView(Structure):
    c_name = "tmx_instance_view"
    _fields_ = [("gpu0", c_size_t), ("n_gpu", c_size_t), ("row", c_size_t), ("class_of", c_size_t), ("prompt", c_bool),
                ("token", c_bool), ("open", c_bool), ("pending_tokens", c_double), ("prompt_tokens", c_double),
                ("reserved_tokens", c_double), ("capacity_tokens", c_double), ("n_request", c_size_t),
                ("n_sequence", c_size_t), ("hottest_k", c_double), ("memory_k", c_double), ("inlet_k", c_double), ("power_w", c_double),
                ("prompt_w", c_double), ("k_per_w", c_double), ("limit_k", c_double), ("gpu_w", c_double), ("memory_k_per_w", c_double),
                ("memory_limit_k", c_double), ("period_s", c_double), ("begun_s", c_double), ("rise_w", c_double)]


class RouteView(Structure):
    c_name = "tmx_route_view"
    _fields_ = [("time_s", c_double), ("n_instance", c_size_t), ("n_row", c_size_t), ("instance", POINTER(InstanceView)),
                ("row_w", POINTER(c_double)), ("budget_w", c_double), ("input_tokens", c_double), ("class_of", c_size_t)]


class Route(Structure):
    c_name = "tmx_route"
    _fields_ = [("prompt", c_size_t), ("token", c_size_t)]


class RowView(Structure):
    c_name = "tmx_row_view"
    _fields_ = [("time_s", c_double), ("telemetry_s", c_double), ("row", c_size_t), ("n_row", c_size_t),
                ("power_w", c_double), ("budget_w", c_double), ("braked", c_bool), ("n_instance", c_size_t),
                ("instance", POINTER(InstanceView)), ("clock_hz", POINTER(c_double)), ("memory", POINTER(c_double))]


class Place(Structure):
    c_name = "tmx_place"
    _fields_ = [("home", c_size_t), ("n", c_size_t)]


DECIDE = CFUNCTYPE(None, c_void_p, POINTER(View), POINTER(Request))
SPREAD = CFUNCTYPE(None, c_void_p, POINTER(Spread), POINTER(c_double))
REAL = CFUNCTYPE(c_double, c_void_p)
PLACE = CFUNCTYPE(None, c_void_p, POINTER(View), c_size_t, POINTER(Place))
ORDER = CFUNCTYPE(None, c_void_p, POINTER(View), c_size_t, POINTER(c_size_t))
SPEED = CFUNCTYPE(c_double, c_void_p, POINTER(FanView))
CTA = CFUNCTYPE(None, c_void_p, POINTER(CtaView), POINTER(CtaRequest))
STATE = CFUNCTYPE(c_int, c_void_p)
ROUTE = CFUNCTYPE(None, c_void_p, POINTER(RouteView), POINTER(Route))
ROW = CFUNCTYPE(None, c_void_p, POINTER(RowView), POINTER(c_double))


class PlacePolicy(Structure):
    c_name = "tmx_place_policy"
    _fields_ = [("base", Plugin), ("place", PLACE), ("widen", PLACE)]


class MixPolicy(Structure):
    c_name = "tmx_mix_policy"
    _fields_ = [("base", Plugin), ("decide", DECIDE), ("spread", SPREAD), ("slice_s", REAL), ("turns", c_bool),
                ("measured_gain_pct", c_double), ("memory", c_void_p), ("foresees", c_bool)]


class DtmPolicy(Structure):
    c_name = "tmx_dtm_policy"
    _fields_ = [("base", Plugin), ("guard", DECIDE), ("govern", DECIDE), ("trip_k", REAL),
                ("memory", c_void_p), ("caps", c_bool)]


class TbPolicy(Structure):
    c_name = "tmx_tb_policy"
    _fields_ = [("base", Plugin), ("order", ORDER)]


class FanPolicy(Structure):
    c_name = "tmx_fan_policy"
    _fields_ = [("base", Plugin), ("speed", SPEED), ("constant", REAL), ("needs_curve", c_bool)]


class CtaPolicy(Structure):
    c_name = "tmx_cta_policy"
    _fields_ = [("base", Plugin), ("launch", CTA), ("observe", CTA), ("prepare", c_void_p), ("unused_core", STATE),
                ("lends", c_bool)]


class GatePolicy(Structure):
    c_name = "tmx_gate_policy"
    _fields_ = [("base", Plugin), ("order", c_int), ("wake", c_int), ("coordinated", c_bool), ("adaptive", c_bool)]


class RoutePolicy(Structure):
    c_name = "tmx_route_policy"
    _fields_ = [("base", Plugin), ("route", ROUTE)]


class RowPolicy(Structure):
    c_name = "tmx_row_policy"
    _fields_ = [("base", Plugin), ("decide", ROW), ("asks", c_int)]


STRUCTS = (Opt, Plugin, JobView, GpuView, SyncJobView, NodeView, View, GpuRequest, Request, Spread, FanPoint, FanView,
           BoardView, CtaCore, CtaView, CtaRequest, Place, PlacePolicy, MixPolicy, DtmPolicy, TbPolicy, FanPolicy, CtaPolicy, GatePolicy,
           InstanceView, RouteView, Route, RoutePolicy, RowView, RowPolicy)
