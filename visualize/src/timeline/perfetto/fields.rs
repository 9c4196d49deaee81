//! The fields of events and tracks that are alike wherever they are.

use prost::Message;
use prost::encoding::{encoded_len_varint, message};

use crate::timeline::Content;
use crate::timeline::packets::Template;
use crate::timeline::proto::{self, tag};

/// What is counted on a track, if anything is.
pub(super) fn counter(content: Content) -> Option<proto::CounterDescriptor> {
    let counter = proto::CounterDescriptor::default();
    match content {
        Content::Cell | Content::Holder | Content::Slices => None,
        Content::Counter => Some(proto::CounterDescriptor {
            unit: Some(proto::UNIT_COUNT),
            ..counter
        }),
        Content::Share => Some(proto::CounterDescriptor {
            unit_name: Some("%".to_owned()),
            y_axis_share_key: Some("share".to_owned()),
            ..counter
        }),
    }
}

/// The fields of an event, that of its track first.
pub(super) fn encode(event: &proto::TrackEvent) -> Box<[u8]> {
    let track = proto::TrackEvent {
        track_uuid: event.track_uuid,
        ..proto::TrackEvent::default()
    };
    let others = proto::TrackEvent {
        track_uuid: None,
        ..event.clone()
    };
    [track.encode_to_vec(), others.encode_to_vec()]
        .concat()
        .into()
}

/// Appends a detail of which the number, at least `least`, changes.
pub(super) fn detail(name: u64, number: u64, least: u64, event: &mut Template) {
    let detail = proto::DebugAnnotation {
        name_iid: Some(name),
        uint_value: Some(number),
        ..proto::DebugAnnotation::default()
    };
    let mut bytes = Vec::new();
    message::encode(tag::EVENT_DEBUG_ANNOTATIONS, &detail, &mut bytes);
    bytes.truncate(bytes.len() - encoded_len_varint(number));
    event.plain(&bytes);
    event.varint(number, least);
}
