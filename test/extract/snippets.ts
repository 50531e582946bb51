import iconv from "iconv-lite";

export interface Snippet {
  encoding: string;
  length: "short" | "middle" | "long";
  text: string;
  bytes: Uint8Array;
}

/** Own snippets: 20 encodings, three lengths, seven texts each. */
export function makeSnippets(): Snippet[] {
  return Object.entries(TEXTS_OF).flatMap(([encoding, texts]) =>
    texts.flatMap((_, at) =>
      (["short", "middle", "long"] as const).map((length) => {
        const text = shape(texts, at, length);
        return { encoding, length, text, bytes: encode(text, encoding) };
      }),
    ),
  );
}

/** A cell or two of a table; some lines; a page. */
function shape(texts: readonly string[], at: number, length: Snippet["length"]): string {
  const [text = "", next = ""] = [texts[at], texts[(at + 1) % texts.length]];
  if (length === "short") return `ID;Name\n1;${text}\n2;${next}\n`;
  const lines = texts.map((_, index) => texts[(at + index) % texts.length] ?? "");
  if (length === "middle") return `${lines.slice(0, 3).join(". ")}.\n`;
  return `${lines.map((line) => `${line}. ${text}.`).join("\n")}\n`.repeat(3);
}

function encode(text: string, encoding: string): Uint8Array {
  return encoding === "iso-2022-kr" ? encodeShifted(text) : Uint8Array.from(iconv.encode(text, encoding));
}

/** Korea's seven-bit encoding, which iconv-lite does not write. Source: RFC 1557. */
function encodeShifted(text: string): Uint8Array {
  const shifted = text.replaceAll(/[^\0-\x7f]+/gu, (run) => {
    const low = iconv.encode(run, "euc-kr").map((byte) => byte & 0x7f);
    return `\x0e${Buffer.from(low).toString("latin1")}\x0f`;
  });
  return Uint8Array.from(Buffer.from(`\x1b$)C${shifted}`, "latin1"));
}

const RUSSIAN = [
  "Договор поставки оборудования",
  "Отчёт о движении средств",
  "Москва, улица Ленина",
  "Счёт на оплату услуг",
  "Протокол совещания отдела",
  "Заявка на отпуск сотрудника",
  "Иванов Пётр Сергеевич",
];
const UKRAINIAN = [
  "Угода про надання послуг",
  "Київ, вулиця Хрещатик",
  "Рахунок за електроенергію",
  "Кравець Олексій Іванович",
  "Звіт про виконання робіт",
  "Заява на відпустку",
  "Перелік необхідних документів",
];
const GERMAN = [
  "Straße des 17. Juni",
  "Müller, Jürgen",
  "Größe geprüft",
  "Rückfragen bitte schriftlich",
  "Übergabe an die Behörde",
  "Verträge für Büroräume",
  "Gebühren für Lärmschutz",
];
const FRENCH = [
  "Contrat à durée indéterminée",
  "Société générale de crédit",
  "Café près de la forêt",
  "Reçu de l'hôtel",
  "Été à la plage",
  "Élève inscrite à l'école",
  "Précédent règlement annulé",
];
const POLISH = [
  "Łódź, ulica Piotrkowska",
  "Grażyna Wiśniewska",
  "Umowa najmu lokalu użytkowego, część główna",
  "Zażółć gęślą jaźń",
  "Sprzedaż została zakończona",
  "Wniosek o urlop wypoczynkowy, proszę wysłać",
  "Kraków, święta i żniwa",
];
const CZECH = [
  "Smlouva o nájmu bytu, příloha",
  "Řehoř Dvořák",
  "Účetní závěrka společnosti",
  "Žádost o dovolenou, děkuji",
  "Předávací protokol části",
  "Město Plzeň, náměstí",
  "Výroční zpráva úřadu",
];
const GREEK = [
  "Σύμβαση προμήθειας",
  "Αθήνα, οδός Ερμού",
  "Τιμολόγιο παροχής υπηρεσιών",
  "Παπαδόπουλος Γιώργος",
  "Πρακτικά συνεδρίασης",
  "Αίτηση άδειας",
  "Έκθεση προόδου του έργου",
];
const TURKISH = [
  "Sözleşme imzalandı, teşekkürler",
  "İstanbul, Beyoğlu ilçesi",
  "Şubat ayı faturası ödendi",
  "Ayşe Yıldız görüştü",
  "Toplantı tutanağı ve çağrı",
  "Müşteri için değerlendirme",
  "Çalışma saatleri değişti",
];
const HEBREW = [
  "חוזה שכירות דירה",
  "תל אביב, רחוב דיזנגוף",
  "חשבונית על שירותים",
  "פרוטוקול ישיבת הנהלה",
  "בקשה לחופשה שנתית",
  "דוח התקדמות הפרויקט",
  "משה כהן מנהל המחלקה",
];
const ARABIC = [
  "عقد إيجار الشقة",
  "القاهرة، شارع النيل",
  "فاتورة الخدمات الشهرية",
  "محضر اجتماع الإدارة",
  "طلب إجازة سنوية",
  "تقرير تقدم المشروع",
  "محمد أحمد مدير القسم",
];
const JAPANESE = [
  "営業部の鈴木さん",
  "会議の議事録を確認してください",
  "請求書の支払期限は月末です",
  "東京都千代田区",
  "納品日は金曜日になりました",
  "契約書の締結",
  "在庫が足りないので発注する",
];
const CHINESE = [
  "会议推迟到星期二",
  "北京市海淀区合同审批",
  "财务报表与预算",
  "销售部张伟",
  "请确认发票金额",
  "上海分公司的年度计划",
  "项目进度报告已经提交",
];
const TRADITIONAL = [
  "會議延期到星期二",
  "台北市信義區合約審核",
  "財務報表與預算",
  "業務部陳小姐",
  "請確認發票金額",
  "分公司的年度計畫",
  "專案進度報告已經提交",
];
const KOREAN = [
  "회의가 화요일로 연기되었습니다",
  "서울특별시 강남구 사무실 임대",
  "담당자 김민수 연락처",
  "예산 보고서와 계약서 검토",
  "납품 일정이 변경되었다",
  "고객에게 이메일을 보내는 방법",
  "부산 지사의 연간 계획",
];

const TEXTS_OF: Readonly<Record<string, readonly string[]>> = {
  "windows-1251": RUSSIAN,
  "koi8-r": RUSSIAN,
  cp866: RUSSIAN,
  "iso-8859-5": UKRAINIAN,
  "windows-1252": GERMAN,
  "iso-8859-15": FRENCH,
  cp850: FRENCH,
  cp437: GERMAN,
  "windows-1250": POLISH,
  "iso-8859-2": CZECH,
  cp852: POLISH,
  "windows-1253": GREEK,
  "windows-1254": TURKISH,
  "windows-1255": HEBREW,
  "windows-1256": ARABIC,
  shift_jis: JAPANESE,
  "euc-jp": JAPANESE,
  gb18030: CHINESE,
  big5: TRADITIONAL,
  "euc-kr": KOREAN,
};

/** Beyond the twenty: seven-bit, and UTF-16 without its mark. */
export const MORE_TEXTS: readonly (readonly [string, readonly string[]])[] = [
  ["iso-2022-kr", KOREAN],
  ["utf-16le", RUSSIAN],
  ["utf-16be", GREEK],
  ["utf-16le", CHINESE],
  ["utf-16be", JAPANESE],
  ["utf-16le", KOREAN],
  ["utf-16be", HEBREW],
  ["utf-16le", ARABIC],
  ["utf-16le", POLISH],
];

/** The same for texts of any encoding. */
export function makeMore(): Snippet[] {
  return MORE_TEXTS.flatMap(([encoding, texts]) =>
    texts.flatMap((_, at) =>
      (["short", "middle", "long"] as const).map((length) => {
        const text = shape(texts, at, length);
        return { encoding, length, text, bytes: encode(text, encoding) };
      }),
    ),
  );
}

/** UTF-8 of every language with so many bytes that are none. */
export function makeBroken(count: number): Snippet[] {
  return Object.values(TEXTS_OF).map((texts, index) => {
    const text = shape(texts, index % texts.length, "long").repeat(4);
    const whole = Buffer.from(text);
    const step = Math.floor(whole.length / (count + 1));
    const bytes = Uint8Array.from(whole);
    for (let at = 1; at <= count; at++) bytes[at * step] = 0xff;
    return { encoding: "utf-8", length: "long", text, bytes };
  });
}
