import FuzzTargets
import Glibc

/// The target of this process: `TANDEM_FUZZ_TARGET`.
private let target: FuzzTarget = {
    let name = getenv("TANDEM_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
        fputs("set TANDEM_FUZZ_TARGET to one of: \(names)\n", stderr)
        exit(2)
    }
    return target
}()

/// libFuzzer calls this for every input (https://llvm.org/docs/LibFuzzer.html).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
