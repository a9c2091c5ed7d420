import Synchronization

/// Where a row stands.
public enum RowStatus: Sendable {
    /// Made or first read inside of a transaction that has not committed: nothing is known of it outside.
    case unknown
    case present
    case deleted
}

/// What a transaction that has not committed yet sees of one object.
@usableFromInline
struct Overlay<Fields: ModelFields>: Sendable {
    /// The thread that runs the transaction.
    let owner: ThreadIdentity
    /// The transaction.
    let epoch: Int
    var fields: Fields
    var status: RowStatus
}

/// What a live object holds, behind its lock.
///
/// Invariants:
/// 1. `fields` and `status` are what was committed at journal position `asOf`, or later in a table without capture.
/// 2. `overlays` holds at most one element: the writer is exclusive. An array of none costs one word.
/// 3. While `isStale`, a newer position than `asOf` has been handled without this object; a refresh is under way.
public struct ModelState<Fields: ModelFields>: Sendable {
    @usableFromInline var fields: Fields
    var status: RowStatus
    var asOf: Int64
    var isStale = false
    /// The write that was running or the last one when the object was registered.
    var epoch: Int
    @usableFromInline var overlays: [Overlay<Fields>] = []
    var refreshError: StoreError?

    init(fields: Fields, status: RowStatus, asOf: Int64, epoch: Int) {
        self.fields = fields
        self.status = status
        self.asOf = asOf
        self.epoch = epoch
    }

    /// What the calling thread sees.
    var visible: (fields: Fields, status: RowStatus) {
        if let overlay = overlays.first, overlay.owner == .current { return (overlay.fields, overlay.status) }
        return (fields, status)
    }

    @usableFromInline
    var visibleFields: Fields { visible.fields }

    /// Takes a committed row that was read at `position`; an older one than the present is ignored.
    mutating func offer(_ row: Fields, asOf position: Int64) {
        guard position >= asOf || status == .unknown else { return }
        var row = row
        row._takeTransient(from: fields)
        fields = row
        status = .present
        asOf = max(asOf, position)
        isStale = false
        refreshError = nil
    }

    /// Takes the absence of the row at `position`.
    mutating func offerAbsence(asOf position: Int64) {
        guard position >= asOf || status == .unknown else { return }
        status = .deleted
        asOf = max(asOf, position)
        isStale = false
    }
}

/// The lock-backed storage of a live object.
public struct ModelStorage<Fields: ModelFields>: ~Copyable, Sendable {
    public let database: Database
    @usableFromInline let state: Mutex<ModelState<Fields>>

    init(database: Database, state: ModelState<Fields>) {
        self.database = database
        self.state = Mutex(state)
    }

    /// Reads one property.
    @inlinable
    public borrowing func read<Result: Sendable>(_ body: (Fields) -> Result) -> Result {
        state.withLock { state in
            state.overlays.isEmpty ? body(state.fields) : body(state.visibleFields)
        }
    }

    @inlinable
    public borrowing func withState<Result: Sendable>(
        _ body: (inout ModelState<Fields>) throws -> Result
    ) rethrows -> Result {
        try state.withLock { try body(&$0) }
    }
}
