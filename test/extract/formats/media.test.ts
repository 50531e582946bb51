import { describe, test } from "vitest";
import { openCompoundFile } from "#extract/mail/compound-file.ts";
import { unpackRtf } from "#extract/mail/compressed-rtf.ts";
import { makeCompoundFile, makeJpeg, makeMp3, makeMsg } from "../containers.ts";
import { extractFile, textOf } from "../documents.ts";

describe("a picture", () => {
  test("is what its metadata say in words", async ({ expect }) => {
    const jpeg = makeJpeg({ description: "Harbour at dawn", artist: "Ana", model: "K-1", comment: "third try" });
    const result = await textOf("a.jpg", jpeg);
    expect(result.text).toBe("Description: Harbour at dawn\nAuthor: Ana\nComment: third try\nCamera: K-1\n");
    expect(result.properties).toEqual({
      description: "Harbour at dawn",
      author: "Ana",
      comment: "third try",
      camera: "K-1",
      dimensions: "200×100",
      textFrom: "metadata",
    });
  });

  test("without words, or with those of the camera only, says that it is not read", async ({ expect }) => {
    const jpeg = makeJpeg({ description: "OLYMPUS DIGITAL CAMERA", artist: " ", model: "E-1" });
    expect(await extractFile("a.jpg", jpeg)).toMatchObject({
      reason: "unsupported_type",
      message: "The image has no text metadata. kb does not use OCR.",
    });
  });
});

describe("a recording", () => {
  test("is what its tags say in words", async ({ expect }) => {
    const mp3 = makeMp3({ title: "Tide", artist: "The Boats", album: "Harbour" });
    expect(await textOf("a.mp3", mp3)).toMatchObject({
      mimeType: "audio/mpeg",
      title: "Tide",
      text: "Title: Tide\nAuthor: The Boats\nAlbum: Harbour\n",
    });
  });
});

describe("a message of Outlook", () => {
  test("is head, text and its attachments as parts", async ({ expect }) => {
    const result = await textOf("a.msg", makeMsg("Tides", "High at noon.\r\nBring boots."));
    expect(result.text).toBe(
      "From: Ana <ana@one.test>\nTo: Bo <bo@two.test>\nSubject: Tides\n\nHigh at noon.\nBring boots.\n\nAttachments:\n- Plan.txt\n",
    );
    expect(result).toMatchObject({
      mimeType: "application/vnd.ms-outlook",
      title: "Tides",
      children: [{ id: "1/Plan.txt" }],
    });
    expect(Buffer.from(result.children?.[0]?.bytes ?? []).toString()).toContain("the plan");
  });

  test("in a message comes as a mail", async ({ expect }) => {
    const inner = {
      "__properties_version1.0": Buffer.alloc(24),
      "__substg1.0_0037001F": Buffer.from("Ünner", "utf16le"),
      "__substg1.0_1000001F": Buffer.from("deep", "utf16le"),
    };
    const msg = makeMsg("Outer", "x", { "__attach_version1.0_#00000001": { "__substg1.0_3701000D": inner } });
    const { children = [] } = await textOf("a.msg", msg);
    expect(children.map(({ fileName }) => fileName)).toEqual(["Plan.txt", "Ünner.eml"]);
    expect((await textOf("Ünner.eml", children[1]?.bytes ?? "")).text).toBe("Subject: Ünner\n\ndeep\n");
  });

  test("whose chains and trees go in circles ends", async ({ expect }) => {
    const bytes = makeCompoundFile({ a: Buffer.from("x"), b: { c: Buffer.from("y") } });
    for (let at = 512; at < bytes.length; at += 4) {
      const broken = Buffer.from(bytes);
      broken.writeUInt32LE(at % 7, at);
      const root = openCompoundFile(broken);
      for (const child of root.children) child.read();
    }
    // The table says of each sector that it follows itself.
    for (let at = bytes.length - 512; at < bytes.length; at += 4)
      bytes.writeUInt32LE((at - bytes.length + 512) / 4, at);
    expect(() => openCompoundFile(bytes).children.map((child) => child.read().length)).not.toThrow();
  });

  test("may have its text packed as RTF", ({ expect }) => {
    // The example of MS-OXRTFCP, 4.1.
    const packed = Buffer.from(
      "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c0900206277 05b06c647d0a800fa0".replaceAll(
        " ",
        "",
      ),
      "hex",
    );
    expect(unpackRtf(packed)?.toString("latin1")).toBe("{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
    expect(unpackRtf(packed.subarray(0, 20))?.length).toBeLessThan(40);
    expect(unpackRtf(Buffer.from("short"))).toBeUndefined();
  });
});
