// No import of Foundation.
import Store

@Model
final class Visit {
    var id: UUID
    var page: URL
    var began: Date
    var ended: Date?
    var seen: Date = Date()
    var later: Date = .now
    var price: Decimal = Decimal(10)
    var picture: Data = Data()
    var thumbnail: Data?
    var other: Ref<Visit>?

    static let indexes = [Index(\.began)]
}

func visits(in db: Database) throws -> [Visit] {
    try Visit.where(\.began > .now && \.id != UUID()).order(by: \.seen).all(in: db)
}
