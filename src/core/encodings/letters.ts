/**
 * A written language, as far as it affects the encoding: its letters beyond ASCII in lower case, the frequent ones
 * first.
 */
export interface Alphabet {
  letters: string;
  /** Most letters of the language are ASCII, so the others occur alone or in pairs. */
  isLatin: boolean;
}

const latin = (letters: string): Alphabet => ({ letters, isLatin: true });
const other = (letters: string): Alphabet => ({ letters, isLatin: false });

const WESTERN = [
  latin("äüößé"),
  latin("éèàêçîôûùâëïœ"),
  latin("óíáéñúü¡¿"),
  latin("ãçáéíóêõâàú"),
  latin("èàòùéìî"),
  latin("åäöé"),
  latin("øåæé"),
  latin("éëïóèöü"),
  latin("áðíæóéöþúý"),
];
const CENTRAL = [
  latin("łąęóżśćźń"),
  latin("íáéřěčšžýůúťďňó"),
  latin("áíéčšžýľťúňôäóďĺŕ"),
  latin("áéöőíóüúű"),
  latin("ăîâșțşţ"),
  latin("čšžćđ"),
  latin("äüöß"),
];
const BALTIC = [latin("ėšųįžąčūę"), latin("āēīšūņļžģķč"), latin("äõüöšž")];
const TURKISH = [latin("ıişüğçöâî")];
const VIETNAMESE = [latin("àđáạảãâấậầẩăắặằéèẹêếệềểíìịóòọôốộồổơớợờởúùụưứựừửýỳ")];
const CYRILLIC = [
  other("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"),
  other("оаиентсвріклмдупязьбгйчїхжшцюєщфґ"),
  other("аоиетнрсвлкдпмзгуяъбчшцйхжщюьф"),
];
const GREEK = [other("ατοειηνσρκπμςλυδωγχθφβξζψάέόήίύώϊϋ")];
const HEBREW = [other("יוהלאמרתבשנמקדםעפחזטגכסצןךףץ")];
const ARABIC = [other("اليمنرتبوةعدسفهقحكجشطصخذزضثظغأإآءئىؤپچژگکی")];
const THAI = [other("านรอกเงมยลวดทส่้ตะปบคหแจพชขใไโผถศซณธฐษภำึืุูิี์ัๆๅญฟฎฏฒฬฮ")];

/**
 * Encodings that have a letter for each byte, grouped by the systems of one language. If two encodings yield the same
 * letters, the first one wins.
 */
export const SINGLE_BYTE: Readonly<Record<string, readonly Alphabet[]>> = {
  "windows-1252": WESTERN,
  "iso-8859-15": WESTERN,
  "windows-1251": CYRILLIC,
  "windows-1250": CENTRAL,
  "iso-8859-2": CENTRAL,
  "koi8-r": CYRILLIC,
  "koi8-u": CYRILLIC,
  "windows-1253": GREEK,
  "iso-8859-7": GREEK,
  "windows-1254": TURKISH,
  "iso-8859-9": TURKISH,
  "windows-1255": HEBREW,
  "windows-1256": ARABIC,
  "iso-8859-6": ARABIC,
  "windows-1257": BALTIC,
  "iso-8859-13": BALTIC,
  "windows-874": THAI,
  "windows-1258": VIETNAMESE,
  cp866: CYRILLIC,
  "iso-8859-5": CYRILLIC,
  cp850: WESTERN,
  cp437: WESTERN,
  cp852: CENTRAL,
  cp857: TURKISH,
  cp737: GREEK,
  cp862: HEBREW,
  cp775: BALTIC,
  macintosh: WESTERN,
  maccyrillic: CYRILLIC,
};

/** An encoding that uses two or more bytes for most letters. */
export interface Table {
  /** Letters that make up a fifth to a half of a text in this encoding. */
  frequent: ReadonlySet<string>;
  /** First and last lead byte of the letters in everyday use. */
  common: readonly [number, number];
  hasKana: boolean;
}

const JAPANESE = new Set(
  "のにはをたがでてとしれさいるなかもっあうくまこんすりきらよつけそどみおちだ一日本人年大会国中月東京語者事業部行時",
);
const CHINESE = new Set(
  "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴切除集响试约合同签订价格货币银行付款",
);
const TAIWANESE = new Set(
  "的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員九笑性通目華報立馬命張活難神數件安表原車白應路期叫死常提感金何更反合放做系計或司利受光王果親界及今京務制解各任至清物台象記邊共風戰乾接它許八特覺望直服毛林題建南度統色字請交愛讓認算論百吃義科怎元社術結合約簽訂價格貨幣銀行付款檔案無法找到任何內容",
);
const KOREAN = new Set(
  "이다의는에을가고하지로한를은기도사리인자어나대서일시아해정과그부수으라있제상전스했만원들게것보연구주유소여장공마신조성안동비경국세미실선무니개관위였까우트야용모회문면생계당각오때드학물화치바산중내르발방진터음교금요않년거체습차식결통입특별분본월작단저름없간려할같된일출합약검토예산납품담당반갑늘씨",
);

export const MULTI_BYTE: Readonly<Record<string, Table>> = {
  shift_jis: { frequent: JAPANESE, common: [0x88, 0x97], hasKana: true },
  "euc-jp": { frequent: JAPANESE, common: [0xb0, 0xcf], hasKana: true },
  gb18030: { frequent: CHINESE, common: [0xb0, 0xd7], hasKana: false },
  big5: { frequent: TAIWANESE, common: [0xa4, 0xc6], hasKana: false },
  "euc-kr": { frequent: KOREAN, common: [0xb0, 0xc8], hasKana: false },
};

/**
 * The initial penalty of an encoding, measured in letters. A single letter proves nothing, and then the encoding of
 * most files is likeliest. Encodings that aren't listed have 0.9.
 */
export const DOUBTS: Readonly<Record<string, number>> = {
  "windows-1252": 0,
  "iso-8859-1": 0,
  "windows-1250": 0.6,
  "windows-1251": 1.2,
  shift_jis: 0.6,
  gb18030: 0.6,
  big5: 0.6,
  "euc-kr": 0.6,
  "euc-jp": 0.6,
  "koi8-r": 0.8,
  "windows-1253": 0.8,
  "windows-1254": 0.6,
  "windows-1255": 0.8,
  "windows-1256": 0.8,
  macintosh: 1.5,
  maccyrillic: 1.5,
};
