//! The messages of Perfetto's trace format that petal writes, with those of their fields that it
//! uses. Names, numbers and meanings: *Perfetto Trace Protos*, `protos/perfetto/trace/` in the
//! Perfetto sources (`trace_packet.proto`, `track_event/*.proto`, `interned_data.proto`,
//! `clock_snapshot.proto`).

#![expect(clippy::struct_field_names, reason = "they are Perfetto's")]

use prost::Message;

/// `TracePacket.SequenceFlags`: forget what was interned on the sequence.
pub(super) const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `TracePacket.SequenceFlags`: the packet relies on what was interned.
pub(super) const SEQ_NEEDS_INCREMENTAL_STATE: u32 = 2;
/// `BuiltinClock`: the trace's own clock.
pub(super) const BUILTIN_CLOCK_BOOTTIME: u32 = 6;
/// The first clock that belongs to a sequence alone.
pub(super) const SEQUENCE_CLOCK: u32 = 64;
/// `TrackEvent.Type`
pub(super) const TYPE_SLICE_BEGIN: u32 = 1;
pub(super) const TYPE_SLICE_END: u32 = 2;
pub(super) const TYPE_INSTANT: u32 = 3;
pub(super) const TYPE_COUNTER: u32 = 4;
/// `TrackDescriptor.ChildTracksOrdering`
pub(super) const EXPLICIT: u32 = 3;
/// `TrackDescriptor.SiblingMergeBehavior`: tracks with the same name stay apart.
pub(super) const NONE: u32 = 2;
/// `CounterDescriptor.Unit`
pub(super) const UNIT_COUNT: u32 = 2;

/// The numbers of fields that are written without their message.
pub(super) mod tag {
    pub const TRACE_PACKET: u32 = 1;
    pub const PACKET_TIMESTAMP: u32 = 8;
    pub const PACKET_TRACK_EVENT: u32 = 11;
    pub const PACKET_COMPRESSED_PACKETS: u32 = 50;
    pub const EVENT_DEBUG_ANNOTATIONS: u32 = 4;
    pub const EVENT_COUNTER_VALUE: u32 = 30;
    pub const EVENT_DOUBLE_COUNTER_VALUE: u32 = 44;
    pub const EVENT_FLOW_IDS: u32 = 47;
    pub const EVENT_TERMINATING_FLOW_IDS: u32 = 48;
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    #[prost(message, optional, tag = "6")]
    pub clock_snapshot: Option<ClockSnapshot>,
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "59")]
    pub trace_packet_defaults: Option<TracePacketDefaults>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacketDefaults {
    #[prost(uint32, optional, tag = "58")]
    pub timestamp_clock_id: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Clock {
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
    #[prost(bool, optional, tag = "3")]
    pub is_incremental: Option<bool>,
    #[prost(uint64, optional, tag = "4")]
    pub unit_multiplier_ns: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    #[prost(uint32, optional, tag = "11")]
    pub child_ordering: Option<u32>,
    #[prost(uint32, optional, tag = "12")]
    pub sibling_order_rank: Option<u32>,
    #[prost(string, optional, tag = "14")]
    pub description: Option<String>,
    #[prost(uint32, optional, tag = "15")]
    pub sibling_merge_behavior: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CounterDescriptor {
    #[prost(uint32, optional, tag = "3")]
    pub unit: Option<u32>,
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub y_axis_share_key: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    #[prost(uint32, optional, tag = "9")]
    pub r#type: Option<u32>,
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(double, optional, tag = "44")]
    pub double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub int_value: Option<i64>,
    #[prost(double, optional, tag = "5")]
    pub double_value: Option<f64>,
    #[prost(string, optional, tag = "6")]
    pub string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "17")]
    pub string_value_iid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Interned>,
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<Interned>,
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<InternedString>,
}

/// `EventCategory`, `EventName` and `DebugAnnotationName` alike.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Interned {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedString {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub str: Option<Vec<u8>>,
}
