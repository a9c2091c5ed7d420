/// The times and sizes of a hub.
package struct HubLimits: Sendable, Hashable {
    /// How long pushed changes gather before they are written as a pack, in milliseconds.
    package var flushMilliseconds: Int64 = 250

    /// Target: bytes of frames after which a pack is closed.
    package var packBytes = 8 << 20

    /// Bytes of frames that are kept in memory. Older ones are read from the store again.
    package var cacheBytes = 256 << 20

    /// Bytes of frames that may wait to be written. Further pushes are refused until there is room.
    package var waitingBytes = 64 << 20

    /// How long changes that another hub has passed on are left to that one to write, in milliseconds.
    package var takeOverMilliseconds: Int64 = 3_000

    /// Creates the standard limits, whose values can then be changed.
    package init() {}
}
