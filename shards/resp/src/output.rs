//! Where replies are written: bytes, and between them long strings that are referred to instead of copied.
//! It does not know what a reply is, or who keeps the strings.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

/// A piece of a buffer that others may hold too.
#[derive(Clone, Debug)]
pub struct Shared {
    buffer: Arc<Vec<u8>>,
    start: usize,
    len: usize,
}

impl Shared {
    /// Those bytes of a buffer.
    pub fn new(buffer: Arc<Vec<u8>>, piece: Range<usize>) -> Shared {
        assert!(piece.start <= piece.end && piece.end <= buffer.len(), "a piece lies inside its buffer");
        Shared { buffer, start: piece.start, len: piece.len() }
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole buffer.
    pub fn into_buffer(self) -> Arc<Vec<u8>> {
        self.buffer
    }
}

/// A string that belongs in front of the byte at `at`.
#[derive(Clone, Debug)]
struct Body {
    at: usize,
    shared: Shared,
}

/// What an output refers to.
#[derive(Clone, Debug)]
struct Bodies {
    /// In order of their places; there is one at least.
    list: Vec<Body>,
    /// Bytes of all of them.
    bytes: usize,
}

/// A part of an output, as it goes to the client.
#[derive(Debug)]
pub enum Piece<'a> {
    /// Bytes that were written.
    Bytes(&'a [u8]),
    /// Bytes that are referred to.
    Shared(&'a Shared),
}

/// What replies are written to. It reads as its written bytes (`Deref`); what is referred to is apart, and
/// costs those who refer to nothing a pointer.
#[derive(Clone, Default, Debug)]
pub struct Output {
    bytes: Vec<u8>,
    bodies: Option<Box<Bodies>>,
}

/// One with nothing in it.
pub static NOTHING: Output = Output { bytes: Vec::new(), bodies: None };

impl Output {
    /// An empty one with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Output {
        Output { bytes: Vec::with_capacity(bytes), bodies: None }
    }

    /// Bytes that a client gets: the written ones and those referred to.
    #[inline]
    pub fn total(&self) -> usize {
        self.bytes.len() + self.bodies.as_ref().map_or(0, |bodies| bodies.bytes)
    }

    /// Whether something is referred to.
    #[inline]
    pub fn refers(&self) -> bool {
        self.bodies.is_some()
    }

    /// Written bytes that there is room for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes room for so many bytes more.
    pub fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes);
    }

    /// The bytes, for those who write nothing else, and take nothing away.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The written bytes alone, where nothing is referred to; else everything in one.
    pub fn into_bytes(self) -> Vec<u8> {
        if self.refers() { self.flat() } else { self.bytes }
    }

    /// A copy of everything in one.
    pub fn flat(&self) -> Vec<u8> {
        let mut flat = Vec::with_capacity(self.total());
        self.each(|piece| {
            flat.extend_from_slice(match piece {
                Piece::Bytes(bytes) => bytes,
                Piece::Shared(shared) => shared.as_slice(),
            });
        });
        flat
    }

    /// Visits everything in order.
    pub fn each(&self, mut visit: impl FnMut(Piece<'_>)) {
        let mut from = 0;
        for body in self.bodies() {
            if body.at > from {
                visit(Piece::Bytes(&self.bytes[from..body.at]));
            }
            visit(Piece::Shared(&body.shared));
            from = body.at;
        }
        if from < self.bytes.len() {
            visit(Piece::Bytes(&self.bytes[from..]));
        }
    }

    /// Adds bytes.
    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a string by reference. Something is written in front of it and behind it: its header and its
    /// line's end.
    pub fn refer(&mut self, shared: Shared) {
        let at = self.bytes.len();
        let bodies = self.bodies.get_or_insert_with(|| Box::new(Bodies { list: Vec::new(), bytes: 0 }));
        bodies.bytes += shared.len();
        bodies.list.push(Body { at, shared });
    }

    /// Adds a piece of another output; `piece` counts its written bytes.
    #[inline]
    pub fn append_piece(&mut self, other: &Output, piece: Range<usize>) {
        if other.refers() {
            self.refer_to_piece(other, &piece);
        }
        self.bytes.extend_from_slice(&other.bytes[piece]);
    }

    #[cold]
    fn refer_to_piece(&mut self, other: &Output, piece: &Range<usize>) {
        let base = self.bytes.len();
        // A body has its header before it and its line's end behind it: it is never at an edge.
        for body in other.bodies().iter().filter(|body| piece.start < body.at && body.at < piece.end) {
            self.refer(body.shared.clone());
            let bodies = self.bodies.as_mut().expect("one was added just now");
            bodies.list.last_mut().expect("one was added just now").at = body.at - piece.start + base;
        }
    }

    /// Adds all of another output.
    #[inline]
    pub fn append_output(&mut self, other: &Output) {
        self.append_piece(other, 0..other.bytes.len());
    }

    /// Takes out what is referred to; what was written stays, and is no whole reply any more.
    pub fn take_shared(&mut self) -> impl Iterator<Item = Shared> + use<> {
        self.bodies.take().into_iter().flat_map(|bodies| bodies.list).map(|body| body.shared)
    }

    /// Empties it.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Takes back all behind the first `len` written bytes, with what it refers to.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        if self.refers() {
            self.drop_bodies(len);
        }
    }

    /// Takes all behind the first `len` written bytes out.
    pub fn split_off(&mut self, len: usize) -> Output {
        let mut rest = Output::default();
        rest.append_piece(self, len..self.bytes.len());
        self.truncate(len);
        rest
    }

    fn bodies(&self) -> &[Body] {
        self.bodies.as_ref().map_or(&[], |bodies| &bodies.list)
    }

    #[cold]
    fn drop_bodies(&mut self, len: usize) {
        let Some(bodies) = &mut self.bodies else { return };
        let kept = bodies.list.partition_point(|body| body.at < len);
        bodies.bytes -= bodies.list.drain(kept..).map(|body| body.shared.len()).sum::<usize>();
        if kept == 0 {
            self.bodies = None;
        }
    }

    /// Cuts written bytes behind which, and in which, nothing is referred to.
    #[inline]
    pub(crate) fn truncate_bytes(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// The written bytes from `from` on go to `to`, for which there is room, and it ends behind them: so do
    /// the bodies between them.
    pub(crate) fn move_end(&mut self, from: usize, to: usize) {
        let end = self.bytes.len();
        if to > from {
            self.bytes.resize(end + to - from, 0);
        }
        self.bytes.copy_within(from..end, to);
        self.bytes.truncate(end + to - from);
        for body in self.bodies.iter_mut().flat_map(|bodies| &mut bodies.list).filter(|body| body.at > from) {
            body.at = body.at + to - from;
        }
    }
}

impl Deref for Output {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Output {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl From<Vec<u8>> for Output {
    fn from(bytes: Vec<u8>) -> Output {
        Output { bytes, bodies: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reply, Version};

    fn long(byte: u8) -> (Vec<u8>, Shared) {
        let text = vec![byte; 5000];
        let mut frame = b"head".to_vec();
        frame.extend_from_slice(&text);
        let shared = Shared::new(Arc::new(frame), 4..5004);
        (text, shared)
    }

    #[test]
    fn what_is_referred_to_reads_as_if_it_were_copied() {
        let ((one, shared), (two, other)) = (long(b'1'), long(b'2'));
        let (mut plain, mut output) = (Output::default(), Output::default());
        for (refers, out) in [(false, &mut plain), (true, &mut output)] {
            let mut reply = Reply::new(out, Version::Resp2);
            reply.ok();
            let list = reply.defer();
            if refers {
                reply.bulk_shared(shared.clone())
            } else {
                reply.bulk(&one)
            }
            reply.bulk(b"between");
            if refers {
                reply.bulk_shared(other.clone())
            } else {
                reply.bulk(&two)
            }
            reply.settle_array(list, 1000);
            reply.bulk(b"short");
        }
        assert!(output.refers() && output.len() < 200 && output.total() == plain.len());
        assert_eq!(output.flat(), plain.into_bytes());
    }

    #[test]
    fn pieces_are_cut_taken_and_put_together_with_their_bodies() {
        let (text, shared) = long(b'x');
        let mut output = Output::default();
        let mut ends = Vec::new();
        for _ in 0..3 {
            Reply::new(&mut output, Version::Resp2).bulk_shared(shared.clone());
            ends.push(output.len());
        }
        let mut second = Output::default();
        second.append_piece(&output, ends[0]..ends[1]);
        let mut wanted = b"$5000\r\n".to_vec();
        wanted.extend_from_slice(&text);
        wanted.extend_from_slice(b"\r\n");
        assert_eq!(second.flat(), wanted);
        let rest = output.split_off(ends[0]);
        assert_eq!((output.total(), rest.total()), (wanted.len(), 2 * wanted.len()));
        assert_eq!(rest.flat(), [wanted.clone(), wanted].concat());
        output.clear();
        assert!(output.total() == 0 && !output.refers());
        drop((rest, second));
        assert_eq!(Arc::strong_count(&shared.into_buffer()), 1);
    }
}
