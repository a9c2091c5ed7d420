import Journal
import Store

@Model(table: "person")
final class Person {
    var id: Int64
    var name: String = ""
    var email: String?
    var age: Int?
    var score: Double?
    var created: Double?
}

@Model(table: "person")
struct PersonValue {
    var id: Int64
    var name: String
    var email: String?
    var age: Int?
    var score: Double?
    var created: Double?
}

struct StoreSide {
    let database: Database

    /// - Parameter captured: False to leave the table out of the journal.
    init(path: String, captured: Bool) throws {
        try StoreSide.makeReplica(path, captured: captured)
        var options = Database.Options()
        options.durability = .normal
        database = try Database(path: path, options: options)
    }

    static func makeReplica(_ path: String, captured: Bool) throws {
        try PlainSide(path: path).execute(Sample.schema)
        var options = Replica.Options()
        options.durability = .normal
        let request = InitializeRequest(excluding: captured ? [] : ["person"])
        try Replica.create(at: path, request, options: options).replica.close()
    }

    func insert(_ sample: Sample) throws {
        try Person.insertRows(from: 0..<sample.count, in: database) { StoreSide.fill(&$0, sample, $1) }
    }

    /// Creates the rows with a live object for each.
    func create(_ sample: Sample) throws -> [Person] {
        try Person.create(from: 0..<sample.count, in: database) { StoreSide.fill(&$0, sample, $1) }
    }

    private static func fill(_ fields: inout Person.Fields, _ sample: Sample, _ index: Int) {
        fields.id = sample.id(index)
        fields.name = sample.names[index]
        fields.email = sample.emails[index]
        fields.age = sample.age(index)
        fields.score = sample.score(index)
        fields.created = sample.created(index)
    }

    func values() throws -> [PersonValue] { try PersonValue.all(in: database) }
    func objects() throws -> [Person] { try Person.all(in: database) }

    /// Finds each of `ids` repeatedly.
    ///
    /// - Returns: The number of rows that were found.
    func find(_ ids: [Int64], times: Int) throws -> Int {
        var found = 0
        for _ in 0..<times {
            for id in ids where try Person.find(id, in: database) != nil { found += 1 }
        }
        return found
    }

    func bulkUpdate() throws { try Person.execute("UPDATE $T SET score = score + 1", in: database) }
}
