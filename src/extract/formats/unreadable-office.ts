import { type Format, noText } from "#extract/format.ts";
import { ENCRYPTED_OFFICE } from "#extract/office/kind.ts";

/**
 * Office documents that are recognized but not read: the binary formats of 1997–2003, for which there is no maintained library, and fully encrypted
 * documents.
 */
export const unreadableOfficeFormat: Format = {
  extract({ mimeType }) {
    if (mimeType === ENCRYPTED_OFFICE) return noText("encrypted", "The document is password-protected.");
    const message = `kb can't read this old binary format (${mimeType}). Save the document in the current format${newName(mimeType)}.`;
    return noText("unsupported_type", message);
  },
};

function newName(mimeType: string): string {
  if (mimeType === "application/msword") return ", as .docx";
  if (mimeType === "application/vnd.ms-powerpoint") return ", as .pptx";
  return mimeType.startsWith("application/vnd.ms-excel") ? ", as .xlsx" : "";
}
