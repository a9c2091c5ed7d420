import Testing

@testable import Sync

@Suite struct XMLReaderTests {
    private func read(_ text: String) throws -> [String] {
        var reader = XMLReader(Array(text.utf8))
        var elements: [String] = []
        while let element = try reader.next() {
            elements.append("\(element.path.joined(separator: "/"))=\(element.text)")
        }
        return elements
    }

    @Test("elements are read when they end, with their text")
    func elements() throws {
        #expect(try read("<a/>") == ["a="])
        #expect(try read("<a><b>1</b>x<b>2</b>y<c /></a>") == ["a/b=1", "a/b=2", "a/c=", "a=xy"])
        let whole =
            "\u{FEFF}<?xml version='1.0' encoding=\"UTF-8\"?>\n<!-- a <b> -->\n<n:a xmlns:n='u' x = \"'>\">\n<b >ä</b ><!---->\n</n:a>\n"
        #expect(try read(whole) == ["a/b=ä", "a=\n\n"])
    }

    @Test("references to characters are decoded")
    func references() throws {
        #expect(try read("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;</a>") == ["a=<>&\"'AB😀"])
        #expect(try read("<a>&amp;lt;</a>") == ["a=&lt;"])
    }

    @Test(
        "anything unusual, cut or too large is refused",
        arguments: [
            "", " ", "x", "<", "<a", "<a>", "<a></b>", "<a></a><b/>", "<a/>x", "x<a/>", "</a>", "<a><b></a></b>", "<>",
            "< a/>",
            "<a b></a>", "<a b=c/>", "<a b='c/>", "<a b='<'/>", "<a b=\"c'/>", "<a>&x;</a>", "<a>&</a>", "<a>&#;</a>",
            "<a>&#x;</a>",
            "<a>&#0;</a>", "<a>&#x1F;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&#+65;</a>",
            "<a>&#99999999999;</a>",
            "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", "<a><![CDATA[x]]></a>",
            "<a><?php ?></a>",
            "<a><?xml version='1.0'?></a>", "<!-- <a/>", "<a><!-- </a>", "<a>\u{1}</a>", "<a>\u{0}</a>",
            "<" + String(repeating: "a", count: 129) + "/>", "<a>" + String(repeating: "x", count: 8_193) + "</a>",
            String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
            "<a>" + String(repeating: "xxxx<b/>", count: 2_049) + "</a>",
        ])
    func refused(text: String) {
        #expect(throws: XMLReader.Failure.self) { try read(text) }
    }

    @Test("text that is no UTF-8 is refused")
    func encoding() {
        var reader = XMLReader(Array("<a>".utf8) + [0xFF, 0xC0] + Array("</a>".utf8))
        #expect(throws: XMLReader.Failure.self) { try reader.next() }
    }

    @Test("damaged documents are read or refused, and never trap")
    func damage() throws {
        let whole = Array("<?xml version=\"1.0\"?><r x='1'><k>a&amp;b&#x41;</k><!-- c --><s/></r>".utf8)
        for index in whole.indices {
            for byte in [UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "/"), 0, 0xFF] {
                var damaged = whole
                damaged[index] = byte
                for bytes in [damaged, Array(whole[..<index])] {
                    var reader = XMLReader(bytes)
                    while let element = try? reader.next() { #expect(!element.path.isEmpty) }
                }
            }
        }
    }
}
