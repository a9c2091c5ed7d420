/// The columns beside ours: ratios to plain SQLite from docs/PERFORMANCE.md, which has their sources, and our
/// goals.
struct PublishedFigures {
    let peers: String
    let log: String
    let goal: Double

    static let steps = [
        "bulk insert", "autocommit insert", "bulk update", "autocommit update", "bulk delete", "export", "apply",
        "apply updates", "apply again", "merge", "file size", "wire bytes",
    ]

    static func of(_ step: String, _ keys: Workload.Keys) -> PublishedFigures? {
        let row: (PublishedFigures, PublishedFigures)? =
            switch step {
            case "bulk insert": (.init("15.6 / 10.3 / 22.7", "2.8", 1.7), .init("34.7 / 20.0 / 29.8", "2.7", 2.2))
            case "autocommit insert": (.init("2.4 / 3.1 / 3.0", "2.2", 1.3), .init("3.9 / 4.5 / 3.1", "3.5", 1.4))
            case "bulk update": (.init("15.5 / 15.3 / 62", "13.7", 4), .init("15.7 / 15.4 / 15.6", "7.1", 4.5))
            case "autocommit update": (.init("2.7 / 3.9 / 2.9", "2.6", 1.3), .init("3.1 / 3.6 / 2.9", "2.9", 1.4))
            case "bulk delete": (.init("4.0 / 16.5 / 11.9", "2.0", 1.4), .init("15.7 / 106 / 15.3", "3.9", 2.3))
            case "export": (.init("40 / 43 / 53", "1.2", 3), .init("33 / 35 / 39", "1.0", 3))
            case "apply": (.init("17.9 / 19.3 / 43.9", "1.2", 1.6), .init("50 / 46 / 59", "2.3", 2.3))
            case "apply updates": (.init("5.4 / 5.4 / 16.8", "1.25", 1.5), .init("10.9 / 11.1 / 13.7", "1.5", 2))
            case "apply again": (.init("12.6 / 11.5 / 12.9", "2.6", 0.05), .init("31.6 / 28.1 / 29.3", "4.7", 0.05))
            case "merge": (.init("5.4 / 5.6 / 13.6", "1.8", 1.8), .init("11.7 / 11.9 / 14.5", "1.9", 2))
            case "file size": (.init("3.0 / 3.2 / 5.4", "2.6", 2.0), .init("4.4 / 4.6 / 4.4", "3.4", 2.6))
            case "wire bytes": (.init("1.56 / 1.56 / 1.38", "1.09", 1.0), .init("1.96 / 1.97 / 1.79", "1.14", 1.0))
            default: nil
            }
        return keys == .text ? row?.0 : row?.1
    }

    private init(_ peers: String, _ log: String, _ goal: Double) {
        self.peers = peers
        self.log = log
        self.goal = goal
    }
}
