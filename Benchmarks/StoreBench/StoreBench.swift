import BenchSupport
import Foundation
import GRDBSQLite

/// The second half of `make bench`: Store beside the C API and GRDB, on the same rows in the same run.
///
/// Figures are medians of ratios of CPU time (user and system of this process) to the C API in the same
/// repetition. With LEAST=1 they are ratios of the least times of all repetitions, for a machine with other
/// work. The rest of the environment is that of `tandem-bench`, see Benchmarks/Bench/Bench.swift.
@main
struct StoreBench {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let isQuick = environment["QUICK"] == "1"
        let rows = environment["ROWS"].flatMap { Int($0) } ?? (isQuick ? 20_000 : 100_000)
        let repetitions = environment["REPEAT"].flatMap { Int($0) } ?? (isQuick ? 5 : 9)
        let directory = (environment["DIRECTORY"] ?? NSTemporaryDirectory()) + "/store-bench-\(getpid())"
        guard rows >= 1_000, repetitions >= 1 else { throw BenchError("ROWS must be 1000 or more, REPEAT 1 or more") }
        print(
            "\nModel layer; SQLite \(String(cString: sqlite3_libversion())), \(rows) rows, \(repetitions) repetitions")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let sample = Sample(rows: rows)
        var rounds: [StoreRound] = []
        for repetition in 1...repetitions {
            try? FileManager.default.removeItem(atPath: directory)
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            rounds.append(try StoreRound(sample, directory: directory))
            FileHandle.standardError.write(Data("model layer: \(repetition) of \(repetitions)\n".utf8))
        }
        report(rounds)
    }

    private static func report(_ rounds: [StoreRound]) {
        row(["what", "C API ms", "GRDB manual", "GRDB Codable", "Store cpu", "Store wall", "goal"])
        row([
            "fetch into values", milliseconds(rounds.map(\.plainFetch)), ratio(rounds, \.manualFetch, \.plainFetch),
            ratio(rounds, \.codableFetch, \.plainFetch), ratio(rounds, \.values, \.plainFetch),
            wallRatio(rounds, \.values, \.plainFetch), "<= 1.5",
        ])
        row([
            "fetch into live instances, cold", milliseconds(rounds.map(\.plainFetch)), "-", "-",
            ratio(rounds, \.objects, \.plainFetch), wallRatio(rounds, \.objects, \.plainFetch), "<= 3",
        ])
        row([
            "insert through models, no capture", milliseconds(rounds.map(\.plainInsert)),
            ratio(rounds, \.manualInsert, \.plainInsert), ratio(rounds, \.codableInsert, \.plainInsert),
            ratio(rounds, \.insert, \.plainInsert), wallRatio(rounds, \.insert, \.plainInsert), "<= 1.5",
        ])
        row([
            "create live instances, no capture", milliseconds(rounds.map(\.plainInsert)), "-", "-",
            ratio(rounds, \.create, \.plainInsert), wallRatio(rounds, \.create, \.plainInsert), "-",
        ])
        // Uses the least time: a loop without contended locks and without allocation is only ever slowed down
        // by other programs.
        row([
            "find of a held instance", "-", "-", "-",
            String(format: "%.0f ns", rounds.map(\.findNanoseconds).min() ?? 0),
            "-", "<= 200 ns",
        ])
        row([
            "bulk update with 1 000 held, added", "-", "-", "-", percent(rounds), "-", "<= 5 %",
        ])
        row([
            "reading 1 000 held again, by itself", "-", "-", "-", readingPercent(rounds), "-", "<= 5 %",
        ])
    }

    private static func ratio(
        _ rounds: [StoreRound], _ cost: KeyPath<StoreRound, Cost>, _ plain: KeyPath<StoreRound, Cost>
    ) -> String { ratio(rounds, cost, plain, of: \.cpu) }

    private static func wallRatio(
        _ rounds: [StoreRound], _ cost: KeyPath<StoreRound, Cost>, _ plain: KeyPath<StoreRound, Cost>
    ) -> String { ratio(rounds, cost, plain, of: \.wall) }

    private static func ratio(
        _ rounds: [StoreRound], _ cost: KeyPath<StoreRound, Cost>, _ plain: KeyPath<StoreRound, Cost>,
        of time: KeyPath<Cost, Double>
    ) -> String {
        let costs = rounds.map { $0[keyPath: cost][keyPath: time] }
        let plain = rounds.map { $0[keyPath: plain][keyPath: time] }
        let isLeast = ProcessInfo.processInfo.environment["LEAST"] == "1"
        return String(
            format: "%.2f",
            isLeast ? (costs.min() ?? 0) / (plain.min() ?? 1) : median(zip(costs, plain).map { $0 / $1 }))
    }

    private static func milliseconds(_ costs: [Cost]) -> String {
        String(format: "%.1f", median(costs.map { $0.cpu * 1_000 }))
    }

    /// The cost that objects in memory add to the update. It uses the least times: the noise of medians hides
    /// the difference of two long times.
    private static func percent(_ rounds: [StoreRound]) -> String {
        let update = least(rounds.flatMap(\.updates))
        return String(format: "%.1f %%", 100 * (least(rounds.flatMap(\.updatesWithObjects)) - update) / update)
    }

    private static func readingPercent(_ rounds: [StoreRound]) -> String {
        String(format: "%.1f %%", 100 * least(rounds.flatMap(\.refreshes)) / least(rounds.flatMap(\.updates)))
    }

    private static func least(_ costs: [Cost]) -> Double { costs.map(\.cpu).min() ?? 0 }

    private static func row(_ cells: [String]) { print(tableRow(cells, widths: [36, 9, 11, 12, 9, 10, 9])) }
}
