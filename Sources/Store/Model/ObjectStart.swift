/// From what an object starts: where its values come from.
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
