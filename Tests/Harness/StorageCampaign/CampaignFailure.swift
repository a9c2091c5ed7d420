/// A property that does not hold.
package struct CampaignFailure: Error, CustomStringConvertible {
    /// The property's number in docs/RELIABILITY.md.
    package let promise: String
    package let detail: String

    init(_ promise: String, _ detail: String) {
        self.promise = promise
        self.detail = detail
    }

    package var description: String { "\(promise): \(detail)" }
}
