import BenchSupport
import Foundation
import GRDBSQLite

/// `make bench`: runs every step on plain SQLite and on a replica in turn, and prints the medians of their
/// ratios.
///
/// Figures are ratios of CPU time (user and system of this process), because wall time on a shared machine
/// says little; wall time is printed beside them. Environment: `QUICK=1` takes a fifth of the rows and three
/// repetitions, `REPEAT=n`, `ROWS=n`, `SYNCHRONOUS=FULL`, `DIRECTORY=path` (default: the system's temporary
/// directory). `PARTS=local,exchange,growth,copies` and `KEYS=T,I` select what is run. `LEAST=1` gives ratios of the
/// least times of all repetitions, for a machine with other work.
@main
struct Bench {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let isQuick = environment["QUICK"] == "1"
        let rows = environment["ROWS"].flatMap { Int($0) } ?? (isQuick ? 20_000 : 100_000)
        let repetitions = environment["REPEAT"].flatMap { Int($0) } ?? (isQuick ? 3 : 5)
        let synchronous = environment["SYNCHRONOUS"] ?? "NORMAL"
        let directory = (environment["DIRECTORY"] ?? NSTemporaryDirectory()) + "/tandem-bench-\(getpid())"
        guard rows >= 100, repetitions >= 1, ["NORMAL", "FULL"].contains(synchronous) else {
            throw BenchError("ROWS must be 100 or more, REPEAT 1 or more, SYNCHRONOUS NORMAL or FULL")
        }
        print(
            "SQLite \(String(cString: sqlite3_libversion())), \(rows) rows, \(repetitions) repetitions, synchronous=\(synchronous)"
        )
        let parts = Set(list(environment["PARTS"] ?? "local,exchange,growth,copies"))
        let kinds = list(environment["KEYS"] ?? "T,I").compactMap(Workload.Keys.init)
        let growth = Growth(directory: directory, isQuick: isQuick)
        if parts.contains("growth") { try growth.runMemory() }
        for keys in kinds where !parts.isDisjoint(with: ["local", "exchange"]) {
            var rounds: [Round] = []
            let work = Workload(keys: keys, rows: rows)
            for repetition in 1...repetitions {
                var round = Round(work: work, directory: directory, synchronous: synchronous)
                try round.run(parts)
                rounds.append(round)
                FileHandle.standardError.write(Data("keys \(keys.rawValue): \(repetition) of \(repetitions)\n".utf8))
            }
            report(keys, rounds, isLeast: environment["LEAST"] == "1")
        }
        if parts.contains("growth") { try growth.run() }
        if parts.contains("copies") { try Copies(directory: directory, isQuick: isQuick).run() }
    }

    private static func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

    private static func report(_ keys: Workload.Keys, _ rounds: [Round], isLeast: Bool) {
        let typical = isLeast ? { $0.min() ?? 0 } : median
        let title = keys == .text ? "T: random UUID text keys" : "I: sequential integer keys"
        print(
            "\n\(title); peers = cr-sqlite / its fork / sqlite-sync, log = SQLite session extension (published figures)"
        )
        row(["step", "ours cpu", "ours wall", "goal", "peers", "log", "plain ms", "ours ms"])
        for step in PublishedFigures.steps {
            guard let published = PublishedFigures.of(step, keys) else { continue }
            let costs = rounds.compactMap { $0.costs[step] }
            let goal = String(format: "%.2f", published.goal)
            if !costs.isEmpty {
                func ratio(_ time: (Cost) -> Double) -> String {
                    let ratio =
                        isLeast
                        ? typical(costs.map { time($0.ours) }) / typical(costs.map { time($0.plain) })
                        : typical(costs.map { time($0.ours) / time($0.plain) })
                    return String(format: "%.2f", ratio)
                }
                row([
                    step, ratio(\.cpu), ratio(\.wall), goal, published.peers, published.log,
                    String(format: "%.1f", typical(costs.map { $0.plain.cpu * 1_000 })),
                    String(format: "%.1f", typical(costs.map { $0.ours.cpu * 1_000 })),
                ])
            } else {
                let sizes = rounds.compactMap { $0.sizes[step] }
                guard !sizes.isEmpty else { continue }
                let ratio = String(format: "%.2f", median(sizes.map { $0.ours / $0.plain }))
                row([step, ratio, "-", goal, published.peers, published.log, "-", "-"])
            }
        }
    }

    private static func row(_ cells: [String]) {
        print(tableRow(cells, widths: [18, 9, 9, 5, 19, 5, 9, 9]))
    }
}
