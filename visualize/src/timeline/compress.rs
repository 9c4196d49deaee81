//! Compresses packets, and writes them, on a thread of its own where there are many.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use prost::encoding::bytes;

use super::proto::tag;

/// Bytes that are compressed together.
const CHUNK: usize = 1 << 18;
/// How many times so many may wait.
const CHUNKS: usize = 4;

/// Packets that are compressed in chunks on their way to a file.
#[derive(Debug)]
pub(super) struct Packets<W> {
    /// Those of each stream that are not compressed yet.
    chunks: [Vec<u8>; 2],
    writing: Writing<W>,
}

/// What is compressed together, since it is alike. The packets of a stream stay in their
/// order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Main,
    Updates,
}

/// How chunks get to the file.
#[derive(Debug)]
enum Writing<W> {
    /// No chunk was full yet.
    Few(Compressor<W>),
    Many(Worker),
    /// All is written, or something failed.
    Over,
}

/// The thread that compresses.
#[derive(Debug)]
struct Worker {
    full: SyncSender<Vec<u8>>,
    /// Chunks to be filled again.
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

#[derive(Debug)]
struct Compressor<W> {
    out: W,
    encoder: ZlibEncoder<Vec<u8>>,
}

impl<W: Write + Send + 'static> Packets<W> {
    pub fn new(out: W) -> Self {
        Self {
            chunks: Default::default(),
            writing: Writing::Few(Compressor {
                out,
                encoder: ZlibEncoder::new(Vec::new(), Compression::fast()),
            }),
        }
    }

    /// Where packets of a stream are to be appended.
    pub fn chunk(&mut self, stream: Stream) -> &mut Vec<u8> {
        &mut self.chunks[stream as usize]
    }

    /// Hands the packets on if there are enough.
    pub fn flush_full(&mut self) -> io::Result<()> {
        let [main, updates] = self.chunks.each_ref().map(|chunk| chunk.len() >= CHUNK);
        // Tracks are described in the main stream.
        if main || updates {
            self.flush(Stream::Main)?;
        }
        if updates {
            self.flush(Stream::Updates)?;
        }
        Ok(())
    }

    fn flush(&mut self, stream: Stream) -> io::Result<()> {
        let worker = match std::mem::replace(&mut self.writing, Writing::Over) {
            Writing::Few(compressor) => compressor.work(),
            Writing::Many(worker) => worker,
            Writing::Over => return Ok(()),
        };
        let spare = worker.empty.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.chunks[stream as usize], spare);
        if worker.full.send(full).is_err() {
            // It tells why it has ended.
            return worker.finish();
        }
        self.writing = Writing::Many(worker);
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.writing, Writing::Over) {
            Writing::Few(mut compressor) => {
                for chunk in &self.chunks {
                    compressor.write(chunk)?;
                }
                compressor.out.flush()
            }
            Writing::Many(worker) => {
                for chunk in &mut self.chunks {
                    // As above.
                    let _ = worker.full.send(std::mem::take(chunk));
                }
                worker.finish()
            }
            Writing::Over => Ok(()),
        }
    }
}

impl Worker {
    fn finish(self) -> io::Result<()> {
        drop(self.full);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl<W: Write + Send + 'static> Compressor<W> {
    /// Goes on on a thread of its own.
    fn work(mut self) -> Worker {
        let (full, chunks) = sync_channel::<Vec<u8>>(CHUNKS);
        let (used, empty) = channel();
        let thread = std::thread::spawn(move || {
            for mut chunk in chunks {
                self.write(&chunk)?;
                chunk.clear();
                // Nobody fills it any more at the end.
                let _ = used.send(chunk);
            }
            self.out.flush()
        });
        Worker {
            full,
            empty,
            thread,
        }
    }

    /// Writes a packet that holds these.
    fn write(&mut self, packets: &[u8]) -> io::Result<()> {
        if packets.is_empty() {
            return Ok(());
        }
        self.encoder.write_all(packets)?;
        let compressed = self.encoder.reset(Vec::with_capacity(CHUNK / 4))?;
        let mut field = Vec::with_capacity(compressed.len() + 8);
        bytes::encode(tag::PACKET_COMPRESSED_PACKETS, &compressed, &mut field);
        let mut packet = Vec::with_capacity(field.len() + 8);
        bytes::encode(tag::TRACE_PACKET, &field, &mut packet);
        self.out.write_all(&packet)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A file in memory, of limited size.
    #[derive(Debug, Clone)]
    pub struct Shared {
        bytes: Arc<Mutex<Vec<u8>>>,
        room: usize,
    }

    impl Default for Shared {
        fn default() -> Self {
            Self {
                bytes: Arc::default(),
                room: usize::MAX,
            }
        }
    }

    impl Shared {
        pub fn bytes(&self) -> Vec<u8> {
            self.bytes.lock().unwrap().clone()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut all = self.bytes.lock().unwrap();
            if all.len() + bytes.len() > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            all.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Hands on so many bytes, then finishes.
    fn write(file: Shared, length: usize) -> io::Result<()> {
        let mut packets = Packets::new(file);
        for byte in (0..251).cycle().take(length) {
            packets.chunk(Stream::Main).push(byte);
            packets.flush_full()?;
        }
        packets.finish()
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_on_both_threads() {
        for length in [10, 20 * CHUNK] {
            let whole = Shared::default();
            write(whole.clone(), length).unwrap();
            let written = whole.bytes().len();
            for room in [0, written / 2, written - 1] {
                let full = Shared {
                    room,
                    ..Shared::default()
                };
                let error = write(full, length).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            }
        }
    }
}
