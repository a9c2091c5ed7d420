/// The context in which a fetched object is added to the cache: its database, its row's status, the journal
/// position at which the row was read, and the epoch of the last write.
public struct RegistrationContext: Sendable {
    @usableFromInline let database: Database
    @usableFromInline let status: RowStatus
    @usableFromInline let position: Int64
    @usableFromInline let epoch: Int

    init(_ database: Database, _ status: RowStatus, asOf position: Int64, epoch: Int) {
        self.database = database
        self.status = status
        self.position = position
        self.epoch = epoch
    }
}
