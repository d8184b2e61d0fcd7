//! The HTTP side of the control port: accepts, bounds, routes. Knows nothing of what the pages say.

use super::House;
use super::health::Health;
use super::metrics::Metrics;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};

/// Connections served at once; further ones wait in the kernel's backlog.
const CONNECTIONS_MAX: usize = 64;

/// A client has this long to send the head of its request.
const HEAD_TIME: Duration = Duration::from_secs(3);

/// And this long for everything, reading our answer included.
const CONNECTION_TIME: Duration = Duration::from_secs(10);

/// The most bytes of a request's head. Bodies are never read.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long to wait after a failed accept: out of descriptors, which time may cure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Stack of a thread that visits a shard: it only waits.
const VISITOR_STACK_BYTES: usize = 256 * 1024;

const INDEX: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Corelane</title></head>\n\
<body><h1>Corelane</h1><ul>\n\
<li><a href=\"/healthz\">/healthz</a> visits every shard: 200, or 503 naming the silent ones</li>\n\
<li><a href=\"/metrics\">/metrics</a> for Prometheus</li>\n\
</ul></body></html>\n";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const PLAIN: &str = "text/plain; charset=utf-8";
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What the pages are made from.
struct Control {
    health: Health,
    metrics: Mutex<Metrics>,
}

/// A runtime on the calling thread, with a thread per shard at most for visits that block.
pub(super) fn runtime(shards: usize) -> io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(shards.max(1))
        .thread_name("corelane-visit")
        .thread_stack_size(VISITOR_STACK_BYTES)
        .build()
}

/// Serves until `stopped` resolves, which it also does when its sender is dropped.
pub(super) fn run(
    runtime: Runtime,
    listener: TcpListener,
    house: Arc<dyn House>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async move {
        let control = Arc::new(Control {
            health: Health::new(Arc::clone(&house)),
            metrics: Mutex::new(Metrics::new(house)),
        });
        let listener =
            tokio::net::TcpListener::from_std(listener).expect("a bound listener registers with epoll");
        let accepting = tokio::spawn(accept(listener, control));
        let _ = stopped.await;
        accepting.abort();
    });
    // A visit may still be waiting for a dead shard: it has its own time-out, we need not wait for it.
    runtime.shutdown_background();
}

async fn accept(listener: tokio::net::TcpListener, control: Arc<Control>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        match listener.accept().await {
            Ok((stream, _)) => {
                let control = Arc::clone(&control);
                tokio::spawn(async move {
                    serve(stream, control).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// One request per connection: a scraper loses nothing by dialling again, and idle connections
/// cannot take the places of others.
async fn serve(stream: TcpStream, control: Arc<Control>) {
    // Only a hint; a socket that refuses it still serves.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| {
                let control = Arc::clone(&control);
                async move { Ok::<_, Infallible>(answer(&control, &request).await) }
            }),
        );
    // A time-out and a client that went away end alike: the connection is dropped.
    let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
}

async fn answer(control: &Control, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refusal = page(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET and HEAD\n".into());
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    match request.uri().path() {
        "/" => page(StatusCode::OK, HTML, INDEX.into()),
        "/healthz" => {
            let report = control.health.report().await;
            let status = if report.all_answered() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            page(status, JSON, report.json().into())
        }
        "/metrics" => {
            // A scrape that panicked left at worst a stale ratio behind: the next one may go on.
            let mut metrics = control.metrics.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            page(StatusCode::OK, EXPOSITION, metrics.scrape().into())
        }
        _ => page(StatusCode::NOT_FOUND, PLAIN, "there is /, /healthz and /metrics\n".into()),
    }
}

fn page(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
