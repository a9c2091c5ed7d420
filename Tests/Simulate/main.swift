import Foundation
import Simulator

let arguments = CommandLine.arguments
let seed = UInt64(arguments.dropFirst().first ?? "1") ?? 1
let count = UInt64(arguments.dropFirst(2).first ?? "1") ?? 1
let from = arguments.dropFirst(3).first.flatMap { Int($0) }
for seed in seed..<(seed + count) {
    let result = Campaign.run(seed: seed, printsFrom: from)
    let line = "\(seed) \(result.hash) \(result.length) \(result.counts.events) \(result.failure ?? "ok")\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}
