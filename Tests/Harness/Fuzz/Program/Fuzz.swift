import Foundation
import FuzzTargets

/// The target of this process, named by `TANDEM_FUZZ_TARGET`.
private let target: FuzzTarget = {
    let name = getenv("TANDEM_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
        FileHandle.standardError.write(Data("set TANDEM_FUZZ_TARGET to one of: \(names)\n".utf8))
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

public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The package manager gives the `main` of an executable this name, and links it as the entry point.
/// libFuzzer's own `main` is therefore not called.
@_cdecl("fuzz_main")
public func start(_ count: CInt, _ arguments: Arguments) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, testOneInput)
}
