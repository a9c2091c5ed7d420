#if canImport(Glibc)
    import Glibc
#endif

/// The cost of a step: CPU seconds of the process (user and system), and seconds of wall time.
package struct Cost: Sendable {
    package var cpu: Double
    package var wall: Double

    package init(cpu: Double, wall: Double) {
        self.cpu = cpu
        self.wall = wall
    }
}

package func measure(_ body: () throws -> Void) rethrows -> Cost {
    let cpu = cpuSeconds()
    let start = ContinuousClock.now
    try body()
    let wall = ContinuousClock.now - start
    return Cost(
        cpu: cpuSeconds() - cpu,
        wall: Double(wall.components.seconds) + Double(wall.components.attoseconds) / 1e18)
}

private func cpuSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

package func median(_ numbers: [Double]) -> Double {
    let sorted = numbers.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// A line of a table: each cell in the width of its column.
package func tableRow(_ cells: [String], widths: [Int]) -> String {
    zip(cells, widths).map { cell, width in cell + String(repeating: " ", count: max(0, width - cell.count)) }
        .joined(separator: "  ")
}

package struct BenchError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
