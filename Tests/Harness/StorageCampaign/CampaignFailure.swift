/// A promise that was not kept.
public struct CampaignFailure: Error, CustomStringConvertible {
    /// The property, as docs/RELIABILITY.md names it.
    public let promise: String
    public let detail: String

    init(_ promise: String, _ detail: String) {
        self.promise = promise
        self.detail = detail
    }

    public var description: String { "\(promise): \(detail)" }
}
