/// The order that decides which of two writes is later: by stamp, and by origin when the stamps are equal.
///
/// It is the timestamp of a last-writer-wins register (Thomas 1979; RFC 677). It is a total order over all
/// writes, because the stamps of one origin increase strictly.
package struct WriteOrder: Hashable, Comparable, Sendable {
    /// The stamp of the change, by its writer's hybrid logical clock.
    package var stamp: Stamp
    /// The replica that wrote the change.
    package var origin: OriginID

    package init(stamp: Stamp, origin: OriginID) {
        self.stamp = stamp
        self.origin = origin
    }

    /// Less than every write. It is the order of values whose writes the journal does not have.
    package static let eldest = WriteOrder(stamp: .zero, origin: OriginID(high: 0, low: 1))

    package static func < (a: WriteOrder, b: WriteOrder) -> Bool { (a.stamp, a.origin) < (b.stamp, b.origin) }
}
