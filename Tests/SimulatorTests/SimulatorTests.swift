import Foundation
import TestSupport
import Testing

/// The tests run the program: a scenario takes over SQLite's time and randomness for its whole process.
@Suite("Scenarios of clusters")
struct SimulatorTests {
    /// The program is in the folder of the tests.
    private static let program: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
        return tests.deletingLastPathComponent().appendingPathComponent("simulate").path
    }()

    private func simulate(_ arguments: [String], environment: [String] = []) throws -> Program.Result {
        try Program.run(["env"] + environment + [Self.program] + arguments)
    }

    @Test(
        "every property holds, with each family of faults and without any",
        arguments: ["none", "network", "processes", "clocks", "identity", "all", "disks"])
    func properties(profile: String) throws {
        let result = try simulate(["7", "1", "--profile", profile, "--attempts", "20"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test(
        "every property holds with unsynced commits, locks and bit rot, and with archives",
        arguments: ["39", "40", "99"])
    func keeping(seed: String) throws {
        let result = try simulate([seed, "1", "--attempts", "20"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("one seed gives one scenario, in two processes, for any order of hashing")
    func determinism() throws {
        // With an archive, with one that some of the machines follow, and without.
        for seed in ["40", "91000144", "2"] {
            let arguments = [seed, "1", "--hashes", "--attempts", "0"]
            let once = try simulate(arguments)
            let again = try simulate(arguments, environment: ["SWIFT_DETERMINISTIC_HASHING=1"])
            #expect(once.output.split(separator: "\n").count == 1)
            #expect(once.output == again.output)
        }
    }

    @Test("parallel scenarios equal those that run in sequence, in the order of their seeds")
    func jobs() throws {
        let seeds = ["26", "2", "--profile", "none", "--keep", "0-1", "--hashes", "--attempts", "0", "--jobs"]
        let one = try simulate(seeds + ["1"])
        #expect(one.output.split(separator: "\n").map { $0.prefix(3) } == ["26 ", "27 "])
        #expect(try simulate(seeds + ["2"]).output == one.output)
    }

    @Test("the scenarios of a list run in its order; a line that is not one scenario is a usage error")
    func replayed() throws {
        let directory = TemporaryDirectory()
        let list = directory.file("seeds.txt")
        func replay(_ text: String) throws -> Program.Result {
            try Data(text.utf8).write(to: URL(fileURLWithPath: list))
            return try simulate(["--replay", list, "--hashes", "--attempts", "0"])
        }
        let result = try replay("# why\n26 1 --profile none --keep 0-1\n# why\n25 1 --profile none --keep 0-1\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").map { $0.prefix(3) } == ["26 ", "25 "])
        #expect(try replay("25 2\n").status == 64)
        #expect(try replay("25 1 --keep\n").status == 64)
        #expect(try simulate(["--replay", directory.file("none")]).status == 64)
    }

    @Test("a command line that makes no sense is a usage error", arguments: ["--mute", "--keep", "--profile", "x"])
    func usage(word: String) throws {
        let result = try simulate([word, "nonsense"])
        #expect(result.status == 64)
    }
}
