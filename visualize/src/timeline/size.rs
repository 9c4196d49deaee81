//! How much a timeline in Perfetto's format is for a viewer: its bytes once they are unpacked.

use std::io::{self, Read as _};

use flate2::read::ZlibDecoder;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed_packets: Option<Vec<u8>>,
}

/// Whether the packets of a file in Perfetto's format are at most `max` bytes once they are unpacked.
///
/// # Errors
/// When it is no such file.
pub fn unpacks_within(file: &[u8], max: u64) -> io::Result<bool> {
    if file.len() as u64 > max {
        return Ok(false);
    }
    let mut room = max;
    for packet in Trace::decode(file)?.packets {
        let packed = packet.compressed_packets.unwrap_or_default();
        let mut plain = ZlibDecoder::new(&packed[..]).take(room.saturating_add(1));
        match room.checked_sub(io::copy(&mut plain, &mut io::sink())?) {
            Some(left) => room = left,
            None => return Ok(false),
        }
    }
    Ok(true)
}
