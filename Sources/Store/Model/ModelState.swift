import Observation
import Synchronization

/// Where a row stands.
@frozen
public enum RowStatus: Sendable {
    /// Made or first read inside of a transaction that has not committed: nothing is known of it outside.
    case unknown
    /// Made in memory, and not saved.
    case new
    /// The row is in the file.
    case present
    /// The row was there, and is gone.
    case deleted

    /// True when nothing that was committed is known.
    @inlinable
    var isProvisional: Bool { self == .unknown || self == .new }
}

/// What a transaction that has not committed yet sees of one object.
@usableFromInline
struct Overlay<Fields: ModelFields>: Sendable {
    /// The thread that runs the transaction.
    @usableFromInline let owner: ThreadIdentity
    /// The transaction.
    let epoch: Int
    @usableFromInline var fields: Fields
    @usableFromInline var status: RowStatus
    /// True when the transaction has written the object's own values; false when it has only read the row.
    var isSaved = false
}

/// What a live object holds, behind its lock.
///
/// Invariants:
/// 1. `fields` and `status` are what was committed at journal position `asOf`, or later in a table without capture.
/// 2. `overlays` holds at most one element: the writer is exclusive. An array of none costs one word.
/// 3. `unsaved` holds at most one element: what had been filled into a `new` object when its row came from elsewhere.
/// 4. While `isStale`, a newer position than `asOf` has been handled without this object; a refresh is under way.
/// 5. A `new` object has an `asOf` of 0, or that of the delete after which it was made anew.
public struct ModelState<Fields: ModelFields>: Sendable {
    @usableFromInline var fields: Fields
    @usableFromInline var status: RowStatus
    @usableFromInline var asOf: Int64
    @usableFromInline var isStale = false
    /// The write that was running or the last one when the object was registered.
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

    /// What the calling thread sees.
    @usableFromInline
    var visible: (fields: Fields, status: RowStatus) {
        if let overlay = overlays.first, overlay.owner == .current { return (overlay.fields, overlay.status) }
        return (fields, status)
    }

    @usableFromInline
    var visibleFields: Fields { visible.fields }

    /// Like ``visible``, without the fields.
    @inlinable
    var visibleStatus: RowStatus { overlays.isEmpty ? status : visible.status }

    /// What was filled into an object whose row came from elsewhere, as long as the calling thread sees it unsaved: also when the
    /// thread's own transaction is the first to meet the row.
    var filledIn: Fields? {
        guard let overlay = overlays.first, overlay.owner == .current else { return unsaved.first }
        if overlay.isSaved || overlay.status == .new { return nil }
        return status == .new && overlay.status == .present ? fields : unsaved.first
    }

    /// Takes a committed row that was read at `position`; an older one than the present is ignored.
    @inlinable
    mutating func offer(_ row: Fields, asOf position: Int64) {
        // One that was made anew after a delete is not to take the row from before that.
        guard position >= asOf || status == .unknown else { return }
        if status == .new { unsaved = [fields] }
        var row = row
        row._takeTransient(from: fields)
        fields = row
        status = .present
        asOf = max(asOf, position)
        isStale = false
        refreshError = nil
    }

    /// Makes an object whose row is deleted one that was made in memory, with these values. It stays the one object of its key.
    mutating func remake(_ fields: Fields) {
        self.fields = fields
        status = .new
        unsaved = []
        refreshError = nil
        // Of another thread's transaction, which has found the row deleted too: its commit would delete what is made now.
        if overlays.first?.status == .deleted { overlays = [] }
    }

    /// Takes the absence of the row at `position`.
    mutating func offerAbsence(asOf position: Int64) {
        // What was never there is not deleted.
        if status == .new {
            isStale = false
            return
        }
        guard position >= asOf || status == .unknown else { return }
        status = .deleted
        asOf = max(asOf, position)
        isStale = false
    }
}
