/** Returns attachments as child items, each named by its position and its file name. */
export function numbered<File extends { fileName: string }>(files: readonly File[]): (File & { id: string })[] {
  return files.map((file, index) => ({ id: `${index + 1}/${file.fileName}`, ...file }));
}
