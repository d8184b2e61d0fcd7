//! RESP2 and RESP3: frames to argument spans, replies to bytes
