import Foundation
import TestSupport
import Testing

@testable import Simulator

@Suite("A failing scenario")
struct FindingTests {
    @Test("is added to the list once, as arguments of simulate with the reason, behind the existing ones")
    func record() throws {
        let directory = TemporaryDirectory()
        let list = directory.file("seeds.txt")
        try Data("# older\n1 1 --keep 3".utf8).write(to: URL(fileURLWithPath: list))
        var request = Campaign.Request(seed: 7)
        request.mute = [.crash]
        request.keep = [0, 1, 2]
        let finding = Campaign.Finding(request: request, failure: "P3: machine 1 has lost transaction 4\nmore")
        try finding.record(in: list)
        try finding.record(in: list)
        #expect(
            try String(contentsOfFile: list, encoding: .utf8) == """
                # older
                1 1 --keep 3
                # P3: machine 1 has lost transaction 4
                7 1 --mute crash --keep 0-2

                """)
    }
}
