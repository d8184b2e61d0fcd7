//! Room 6's last word: a value as reply bytes. A step is one bulk string of 16 bytes.

use crate::Room;
use resp::{Output, Reply, Version};
use std::hint::black_box;

/// `$16\r\n...\r\n`
pub(crate) const BULK: Room = Room { name: "reply-bulk", instructions_target: 0.0, build: bulk };

fn bulk() -> Box<dyn FnMut(u64)> {
    let mut buffer = Output::default();
    Box::new(move |steps| {
        for step in 0..steps {
            // A batch's worth of replies, then the chunk is sent.
            if step % 64 == 0 {
                buffer.clear();
            }
            Reply::new(&mut buffer, Version::Resp2).bulk(black_box(b"0123456789abcdef"));
        }
        black_box(&buffer);
    })
}
