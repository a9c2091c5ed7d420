/// A decoder of bytes that others wrote. Each must return for any bytes: a trap is a defect, and so is a
/// decoded value that breaks its invariants.
package enum FuzzTarget: String, Sendable, CaseIterable {
    /// ``Sync/BatchCodec``.
    case batch
    /// ``Sync/FrameParser``, and the batches of its frames.
    case frames
    /// The bodies of `/v1/hello`, `/v1/pull` and `/v1/digest`, and the answers to them and to a push.
    case hello, pull, digest, replies
    /// The decoders of zstd and gzip.
    case compressed
    /// Row images, as the held table and the ledger keep them.
    case images
    /// Addresses, tokens, error bodies and `Retry-After`.
    case text
    /// A whole request to an endpoint on a real replica.
    case endpoint

    /// Decodes `bytes`. Stops the process when an invariant does not hold.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .batch: BatchTarget.run(bytes)
        case .frames: FrameTarget.run(bytes)
        case .hello: MessageTarget.hello(bytes)
        case .pull: MessageTarget.pull(bytes)
        case .digest: MessageTarget.digest(bytes)
        case .replies: MessageTarget.replies(bytes)
        case .compressed: CompressionTarget.run(bytes)
        case .images: ImageTarget.run(bytes)
        case .text: TextTarget.run(bytes)
        case .endpoint: EndpointTarget.shared.run(bytes)
        }
    }
}
