import Observation
import Synchronization

/// The status of a live object's row.
@frozen
public enum RowStatus: Sendable {
    /// The object was made or first read in a transaction that has not committed: its state outside the
    /// transaction is unknown.
    case unknown
    /// The object was made in memory and not saved.
    case new
    /// The row exists in the file.
    case present
    /// The row existed and was deleted.
    case deleted

    /// True when no committed state of the row is known.
    @inlinable
    var isProvisional: Bool { self == .unknown || self == .new }
}

/// The state of one object in a transaction that has not committed.
@usableFromInline
struct Overlay<Fields: ModelFields>: Sendable {
    /// The thread that runs the transaction.
    @usableFromInline let owner: ThreadIdentity
    /// The transaction.
    let epoch: Int
    @usableFromInline var fields: Fields
    @usableFromInline var status: RowStatus
    /// True when the transaction has written the object's values; false when it has only read the row.
    var isSaved = false
}

/// The state of a live object, protected by its lock.
///
/// Invariants, of which debug builds check what one state alone shows (`checkInvariants()`):
/// 1. `fields` and `status` are what was committed at journal position `asOf`, or later in a table without
///    capture. An `unknown` object has an `asOf` of 0, because nothing committed is known of it.
/// 2. `overlays` holds at most one element: the writer is exclusive. An empty array costs one word. The
///    overlay belongs to the write `epoch` or a later one. It has a status other than `unknown`, and none of
///    a `new` object is saved.
/// 3. `unsaved` holds at most one element: the values of a `new` object at the time when another writer
///    inserted its row. So a `new` or `unknown` object has none.
/// 4. While `isStale`, a newer position than `asOf` has been handled without this object; a refresh is under
///    way.
/// 5. A `new` object has an `asOf` of 0, or that of the delete after which it was made again.
public struct ModelState<Fields: ModelFields>: Sendable {
    @usableFromInline var fields: Fields
    @usableFromInline var status: RowStatus
    @usableFromInline var asOf: Int64
    @usableFromInline var isStale = false
    /// The number of the running or last write when the object was registered.
    @usableFromInline var epoch: Int
    @usableFromInline var overlays: [Overlay<Fields>] = []
    @usableFromInline var unsaved: [Fields] = []
    @usableFromInline var refreshError: StoreError?

    @inlinable
    init(fields: Fields, status: RowStatus, asOf: Int64, epoch: Int) {
        self.fields = fields
        self.status = status
        self.asOf = asOf
        self.epoch = epoch
    }

    /// The values and status as seen by the calling thread.
    @usableFromInline
    var visible: (fields: Fields, status: RowStatus) {
        if let overlay = overlays.first, overlay.owner == .current { return (overlay.fields, overlay.status) }
        return (fields, status)
    }

    @usableFromInline
    var visibleFields: Fields { visible.fields }

    /// The status as seen by the calling thread.
    @inlinable
    var visibleStatus: RowStatus { overlays.isEmpty ? status : visible.status }

    /// The unsaved values of an object whose row another writer has inserted, as long as the calling thread
    /// sees them as unsaved; also when the thread's own transaction is the first to read that row.
    var filledIn: Fields? {
        guard let overlay = overlays.first, overlay.owner == .current else { return unsaved.first }
        if overlay.isSaved || overlay.status == .new { return nil }
        return status == .new && overlay.status == .present ? fields : unsaved.first
    }

    /// Takes over a committed row that was read at `position`; an older row than the current one is ignored.
    mutating func offer(_ row: Fields, asOf position: Int64) {
        // An object that was made again after a delete must not take over the row from before the delete.
        guard position >= asOf || status == .unknown else { return }
        if status == .new { unsaved = [fields] }
        var row = row
        row._takeTransient(from: fields)
        fields = row
        status = .present
        asOf = max(asOf, position)
        isStale = false
        refreshError = nil
        checkInvariants()
    }

    /// Turns an object whose row is deleted into a new object in memory with these values. It remains the
    /// only object of its key.
    mutating func remake(_ fields: Fields) {
        self.fields = fields
        status = .new
        unsaved = []
        refreshError = nil
        // The overlay belongs to another thread's transaction, which also saw the row deleted. Its commit
        // would mark the new object as deleted.
        if overlays.first?.status == .deleted { overlays = [] }
        checkInvariants()
    }

    /// Applies the absence of the row at `position`.
    mutating func offerAbsence(asOf position: Int64) {
        // A row that never existed is not deleted.
        if status == .new {
            isStale = false
            return
        }
        guard position >= asOf || status == .unknown else { return }
        status = .deleted
        asOf = max(asOf, position)
        isStale = false
        checkInvariants()
    }

    // MARK: - Invariants

    /// Stops a debug build when one of the invariants does not hold. A release build does nothing.
    @inlinable
    func checkInvariants() { assert(invariantViolation() == nil, invariantViolation() ?? "") }

    /// Returns the first of the numbered invariants that does not hold, in words; nil when all of them hold.
    @usableFromInline
    func invariantViolation() -> String? {
        if asOf < 0 || (status == .unknown && asOf != 0) { return "1: a row that is \(status) has position \(asOf)" }
        if overlays.count > 1 { return "2: there are \(overlays.count) overlays" }
        if let overlay = overlays.first {
            if overlay.epoch < max(epoch, 1) {
                return "2: the overlay of write \(overlay.epoch) is on an object of write \(epoch)"
            }
            if overlay.status == .unknown { return "2: an overlay is unknown" }
            if overlay.status == .new, overlay.isSaved { return "2: the overlay of a new object is saved" }
        }
        if unsaved.count > 1 { return "3: there are \(unsaved.count) unsaved values" }
        if !unsaved.isEmpty, status.isProvisional { return "3: a row that is \(status) has unsaved values beside it" }
        return nil
    }
}
