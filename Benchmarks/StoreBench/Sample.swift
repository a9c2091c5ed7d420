/// The rows that every side reads and writes.
struct Sample {
    let names: [String]
    let emails: [String]

    init(rows: Int) {
        names = (0..<rows).map { "name \($0)" }
        emails = (0..<rows).map { "user\($0)@example.com" }
    }

    var count: Int { names.count }

    static let schema = """
        CREATE TABLE person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, age INTEGER, score REAL, created REAL)
        """

    func id(_ index: Int) -> Int64 { Int64(index + 1) }
    func age(_ index: Int) -> Int { index % 90 }
    func score(_ index: Int) -> Double { Double(index) * 1.5 }
    func created(_ index: Int) -> Double { 1_700_000_000 + Double(index) }
}
