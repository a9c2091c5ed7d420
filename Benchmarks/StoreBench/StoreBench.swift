import BenchSupport
import Foundation
import GRDBSQLite

/// The second half of `make bench`: the model layer beside the C API and GRDB, on the same rows in the same run.
///
/// Figures are medians of ratios of CPU time (user and system of this process) to the C API in the same repetition. Environment:
/// as for `tandem-bench`, see Benchmarks/Bench/Bench.swift.
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
        row([
            "find of a held instance", "-", "-", "-", String(format: "%.0f ns", median(rounds.map(\.findNanoseconds))),
            "-", "<= 200 ns",
        ])
        row([
            "refresh of 1 000 after a bulk update", "-", "-", "-", percent(rounds), "-", "<= 5 %",
        ])
    }

    private static func ratio(
        _ rounds: [StoreRound], _ cost: KeyPath<StoreRound, Cost>, _ plain: KeyPath<StoreRound, Cost>
    ) -> String {
        String(format: "%.2f", median(rounds.map { $0[keyPath: cost].cpu / $0[keyPath: plain].cpu }))
    }

    private static func wallRatio(
        _ rounds: [StoreRound], _ cost: KeyPath<StoreRound, Cost>, _ plain: KeyPath<StoreRound, Cost>
    ) -> String {
        String(format: "%.2f", median(rounds.map { $0[keyPath: cost].wall / $0[keyPath: plain].wall }))
    }

    private static func milliseconds(_ costs: [Cost]) -> String {
        String(format: "%.1f", median(costs.map { $0.cpu * 1_000 }))
    }

    /// What Store adds to the update as SQLite runs it.
    private static func percent(_ rounds: [StoreRound]) -> String {
        let update = median(rounds.flatMap { $0.updates.map(\.cpu) })
        let followed = median(rounds.flatMap { $0.updatesWithObjects.map(\.cpu) })
        return String(format: "%.1f %%", 100 * (followed - update) / update)
    }

    private static func row(_ cells: [String]) { print(tableRow(cells, widths: [36, 9, 11, 12, 9, 10, 9])) }
}
