/// A property that does not hold.
struct Violation: Error, CustomStringConvertible {
    /// The property's number in docs/RELIABILITY.md.
    let property: String
    let detail: String

    init(_ property: String, _ detail: String) {
        self.property = property
        self.detail = detail
    }

    var description: String { "\(property): \(detail)" }
}
