/** Default titles that programs give a document, in the languages in which they occur, without numbers after them. */
const NAMES = `
untitled|unnamed|no title|title|document|new document|text document|new text document|word document|presentation|powerpoint presentation|workbook|spreadsheet|slide|page|book|sheet|drawing|layout|blank|blank page|blank document|unknown|none|null|undefined|n/a|message|no subject|anonymous|unspecified|untitled document|untitled spreadsheet|untitled presentation|untitled form|untitled page|untitled notebook|untitled design|presentation title|slide title|new tab|new page|full page photo|full page photo print|print
unbenannt|unbenanntes dokument|unbenannte tabelle|unbenannte präsentation|ohne titel|kein titel|titel|dokument|neues dokument|neues textdokument|textdokument|präsentation|powerpoint-präsentation|titel der präsentation|präsentationstitel|arbeitsmappe|mappe|tabelle|folie|seite|zeichnung|neuer tab|neue seite|kein betreff|ohne betreff
sans titre|sans nom|titre|nouveau document|nouveau document texte|document sans titre|feuille de calcul sans titre|présentation sans titre|présentation|présentation powerpoint|titre de la présentation|classeur|feuille|feuil|diapositive|dessin|nouvel onglet|nouvelle page|sans objet|aucun objet
sin título|sin nombre|título|documento|nuevo documento|nuevo documento de texto|documento sin título|hoja de cálculo sin título|presentación sin título|presentación|presentación de powerpoint|título de la presentación|libro|hoja|diapositiva|dibujo|página|nueva pestaña|nueva página|sin asunto
senza titolo|senza nome|titolo|nuovo documento|nuovo documento di testo|documento senza titolo|foglio di lavoro senza titolo|presentazione senza titolo|presentazione|presentazione powerpoint|presentazione di powerpoint|presentazione standard di powerpoint|titolo della presentazione|titolo presentazione|cartel|foglio|disegno|pagina|nuova scheda|nuova pagina|nessun oggetto
sem título|sem nome|novo documento|novo documento de texto|documento sem título|planilha sem título|folha de cálculo sem título|apresentação sem título|apresentação|apresentação do powerpoint|título da apresentação|pasta|livro|planilha|folha|desenho|nova guia|nova aba|novo separador|sem assunto
naamloos|zonder titel|geen titel|nieuw document|nieuw tekstdocument|naamloos document|naamloze spreadsheet|naamloze presentatie|presentatie|powerpoint-presentatie|titel van presentatie|map|werkmap|blad|dia|tekening|nieuw tabblad|geen onderwerp
bez tytułu|bez nazwy|tytuł|nowy dokument|nowy dokument tekstowy|dokument bez tytułu|arkusz kalkulacyjny bez tytułu|prezentacja bez tytułu|prezentacja|prezentacja programu powerpoint|tytuł prezentacji|zeszyt|skoroszyt|arkusz|slajd|rysunek|strona|nowa karta|bez tematu|brak tematu
без имени|без названия|безымянный|заголовок|название|документ|новый документ|новый текстовый документ|документ без названия|новая таблица|новая презентация|презентация|презентация powerpoint|заголовок презентации|книга|лист|слайд|рисунок|страница|новая вкладка|без темы|нет темы
無題|無題のドキュメント|無題のスプレッドシート|無題のプレゼンテーション|名称未設定|タイトル|タイトルなし|文書|ドキュメント|新規文書|新しいドキュメント|新しいテキスト ドキュメント|新規テキスト ドキュメント|プレゼンテーション|powerpoint プレゼンテーション|ブック|シート|スライド|図形描画|ページ|新しいタブ|件名なし
无标题|未命名|未命名文档|无标题文档|无标题表格|无标题演示文稿|未命名文件|標題|标题|文档|文件|新建文档|新建文本文档|新文件|新增文字文件|演示文稿|powerpoint 演示文稿|簡報|powerpoint 簡報|未命名簡報|未命名試算表|工作簿|活頁簿|工作表|幻灯片|投影片|页|新标签页|新分頁|無標題|无主题
제목 없음|제목 없는 문서|제목 없는 스프레드시트|제목 없는 프레젠테이션|제목|문서|새 문서|새 텍스트 문서|프레젠테이션|powerpoint 프레젠테이션|통합 문서|시트|슬라이드|새 탭
namnlös|namnlöst dokument|utan titel|nytt dokument|powerpoint-presentation|arbetsbok|bok|blad|bild|ny flik|bez názvu|dokument bez názvu|nový dokument|prezentace|prezentace aplikace powerpoint|sešit|snímek|adsız|adsız belge|başlıksız|yeni belge|belge|sunu|powerpoint sunusu|kitap|sayfa|ikke navngivet|uden titel|uten navn|uten tittel|nimetön
scan|scans|scanned|scanned document|scanned image|scanned documents|scanned page|scan document|new scan|untitled-scanned|scansnap|hp scan|epson scan|img|doc|gescanntes dokument|gescanntes bild|scanauftrag|numérisation|document numérisé|image numérisée|documento escaneado|documento digitalizado|imagen escaneada|digitalização|escaneo|digitalizar|documento scansionato|scansione|gescand document|zeskanowany dokument|skan|skanowanie|отсканированный документ|скан|сканирование|スキャン|スキャン文書|スキャンした文書|扫描|扫描件|扫描文档|掃描|掃描文件|스캔|스캔 문서|naskenovaný dokument|skannat dokument|tarama|taranan belge
`;

const DEFAULT_TITLES: ReadonlySet<string> = new Set(NAMES.trim().split(/[|\n]/u).map(normal));

/** Titles that programs write when printing or saving, with the program and the file: `Microsoft Word - plan.doc`, `plan.txt - Notepad`. */
const PRINTED =
  /^microsoft (?:word|excel|powerpoint|outlook|visio|publisher|access) [-–—] |.[-–—:] ?(?:notepad(?:\+\+)?|wordpad|editor|texteditor|bloc-notes|bloc de notas|blocco note|bloco de notas|kladblok|notatnik|блокнот|メモ帳|记事本|記事本|메모장|textedit)$/iu;
/** A page without a title is printed with its address as the title. */
const ADDRESS =
  /^(?:https?|file|about|blob|data|chrome|edge|moz-extension|localhost)[:/]\S*$|^localhost$|^index of \//iu;
/** Names that devices and apps make from a date or a counter. */
const SCANNED =
  /^(?:(?:camscanner|adobe scan|office lens|microsoft lens|genius scan|tiny scanner|xerox scan|scan|scanned?|img|doc|dsc|skm(?:bt)?|km(?:bt)?|mx|sharp|canon|ir-adv|epson|hp|brother|brn|brw|ricoh|rnp)[\s_-]*(?:[a-z]{1,2}\d{2,4}[a-z]{0,2}[\s_-]*)?[\d\s._:,/-]*\d|(?:camscanner|adobe scan|office lens|microsoft lens|genius scan|tiny scanner)[\s_-].*\d.*|(?:scanned (?:from|by|with|using)|message from (?:kmbt|skm|rnp|brn|km)|attached image from).*)$/iu;

/** True for a title that a program wrote instead of a person. Such a title is less useful than the file's name. */
export function isDefaultTitle(title: string): boolean {
  return PRINTED.test(title) || ADDRESS.test(title) || SCANNED.test(title) || DEFAULT_TITLES.has(normal(title));
}

/** Returns the title without surrounding punctuation, without a file extension, and without the number after it. */
function normal(title: string): string {
  return title
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\.(?:docx?|xlsx?|pptx?|od[tsp]|pdf|txt|rtf|html?|md|indd|ai|psd|vsdx?|pages|key|numbers)$/u, "")
    .replaceAll(/^[\s*("'<[{«「【]+|[\s)"'>\]}»」】]+$/gu, "")
    .replace(/[\s_#-]*\(?\d{0,14}\)?$/u, "")
    .replaceAll(/[\s_]+/gu, " ")
    .replace(/:+/gu, " ")
    .trim();
}
