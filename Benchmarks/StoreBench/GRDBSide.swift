import GRDB

/// A GRDB record with handwritten coding, as in GRDB's documentation.
struct ManualPerson: FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"

    var id: Int64
    var name: String
    var email: String?
    var age: Int?
    var score: Double?
    var created: Double?

    init(_ sample: Sample, _ index: Int) {
        id = sample.id(index)
        name = sample.names[index]
        email = sample.emails[index]
        age = sample.age(index)
        score = sample.score(index)
        created = sample.created(index)
    }

    init(row: Row) {
        id = row["id"]
        name = row["name"]
        email = row["email"]
        age = row["age"]
        score = row["score"]
        created = row["created"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["email"] = email
        container["age"] = age
        container["score"] = score
        container["created"] = created
    }
}

/// The same with GRDB's generated coding.
struct CodablePerson: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "person"

    var id: Int64
    var name: String
    var email: String?
    var age: Int?
    var score: Double?
    var created: Double?

    init(_ sample: Sample, _ index: Int) {
        id = sample.id(index)
        name = sample.names[index]
        email = sample.emails[index]
        age = sample.age(index)
        score = sample.score(index)
        created = sample.created(index)
    }
}

struct GRDBSide {
    private let pool: DatabasePool

    init(path: String) throws { pool = try DatabasePool(path: path) }

    func execute(_ sql: String) throws { try pool.write { try $0.execute(sql: sql) } }

    func fetch<Record: FetchableRecord & TableRecord>(_ type: Record.Type) throws -> [Record] {
        try pool.read { try type.fetchAll($0) }
    }

    func insert<Record: PersistableRecord>(_ sample: Sample, _ make: (Sample, Int) -> Record) throws {
        try pool.write { db in
            for index in 0..<sample.count { try make(sample, index).insert(db) }
        }
    }

    func close() throws { try pool.close() }
}
