import Sync

/// The media types of docs/PROTOCOL.md.
enum ContentType {
    /// One protobuf message.
    static let message = WireHTTP.messageType
    /// A stream of frames.
    static let frames = WireHTTP.framesType
    /// A part of a snapshot.
    static let part = WireHTTP.partType
    /// What browsers send of a form.
    static let form = "application/x-www-form-urlencoded"
    static let json = "application/json"
    static let html = "text/html; charset=utf-8"
    static let metrics = "text/plain; version=0.0.4; charset=utf-8"
    /// Server-sent events, of the HTML standard.
    static let events = "text/event-stream"
    static let text = "text/plain; charset=utf-8"

    /// The media type of the body of a request; nil for a request without a body.
    static func ofRequest(_ action: Route.Action) -> String? {
        switch action {
        case .hello, .pull, .digest: message
        case .push: frames
        case .wait: json
        case .form: form
        case .snapshot, .snapshotPart, .status, .metrics, .health, .dashboard, .events, .reload, .ready: nil
        }
    }
}
