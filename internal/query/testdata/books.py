"""Writes workbooks with openpyxl and pandas, and what they read back, for fidelity_excel_test.go."""
import datetime as dt
import json
import sys

import openpyxl
import pandas
from openpyxl.styles import PatternFill

folder = sys.argv[1]
truths = {}


def book(name, columns, rows, fill, rules=(), table=None):
    path = f"{folder}/{name}.xlsx"
    wb = openpyxl.Workbook()
    fill(wb)
    wb.save(path)
    truths[name] = {"columns": columns, "rows": rows, "rules": list(rules)}


def column(name, cells, kind, printed, fmt=None, rules=()):
    """One column v beside a text column, in three places: at once, after 300 rows, under a title."""
    def write(ws, start, before):
        ws.cell(start, 1, "k")
        ws.cell(start, 2, "v")
        for i in range(before + len(cells)):
            ws.cell(start + 1 + i, 1, "x")
            value = cells[max(0, i - before)]
            if i < before:
                value = None
            c = ws.cell(start + 1 + i, 2, value)
            if fmt and value is not None:
                c.number_format = fmt

    columns = f"k VARCHAR, v {kind}"
    book(name, columns, [["x", p] for p in printed], lambda wb: write(wb.active, 1, 0), rules)
    book(name + ", late", columns, [["x", None]] * 300 + [["x", p] for p in printed], lambda wb: write(wb.active, 1, 300), rules)

    def titled(wb):
        wb.active.cell(1, 1, "Report of the month")
        write(wb.active, 3, 0)
    book(name + ", titled", columns, [["x", p] for p in printed], titled, list(rules) + ["header"])


d, t = dt.date, dt.datetime
for i, fmt in enumerate(["yyyy-mm-dd", "dd.mm.yyyy", "d mmm yyyy", "mmmm yyyy", "[$-407]d. mmmm yyyy", "m/d/yy", "dddd", 'd"."m"."yy', "[Red]dd/mm/yyyy", "yyyy-mm-dd;@"]):
    column(f"dates {i}", [d(2026, 1, 1), d(2026, 2, 28)], "DATE", ["2026-01-01", "2026-02-28"], fmt)
for i, fmt in enumerate(["yyyy-mm-dd hh:mm:ss", "dd.mm.yyyy hh:mm", "m/d/yy h:mm AM/PM"]):
    column(f"moments {i}", [t(2026, 1, 1, 12, 30, 15), t(2026, 2, 28)], "TIMESTAMP", ["2026-01-01 12:30:15", "2026-02-28 00:00:00"], fmt)
for i, fmt in enumerate(['#,##0.00 "EUR/kg"', '"INV-"0.00', "# ?/?", "[>100]0.00;[<0]-0.00", r"\d0.00", '0.00" days"', "0.00E+00", "[$€-407] #,##0.00"]):
    column(f"numbers {i}", [1234.25, 0.5], "DECIMAL(18,2)", ["1234.25", "0.50"], fmt)
column("integers", [1, -2, 2**53 - 1], "BIGINT", ["1", "-2", str(2**53 - 1)])
column("invoice numbers", [1001, 1002], "BIGINT", ["1001", "1002"], '"INV-"0')
column("doubles", [2 / 3, 1 / 3], "DOUBLE", ["0.6666666666666666", "0.3333333333333333"])
column("percent", [0.25, 0.5], "DECIMAL(18,2)", ["0.25", "0.50"], "0.00%", ["number_format"])
column("texts like numbers", ["01234", "00501"], "VARCHAR", ["01234", "00501"])
column("card numbers", ["4111111111111111111", "4111111111111111112"], "VARCHAR", ["4111111111111111111", "4111111111111111112"])
column("texts like dates", ["2024-01-01", "10-11-12"], "VARCHAR", ["2024-01-01", "10-11-12"])
column("texts with blanks", [" a ", "b\nc"], "VARCHAR", [" a ", "b\nc"])
column("letters", ["Zoë", "北京 🙂"], "VARCHAR", ["Zoë", "北京 🙂"])
column("booleans", [True, False], "BOOLEAN", ["true", "false"])
column("times", [dt.time(8, 30), dt.time(23, 59, 59)], "TIME", ["08:30:00", "23:59:59"], "hh:mm:ss")
column("durations", [dt.timedelta(hours=26, minutes=30), dt.timedelta(minutes=5)], "INTERVAL", ["26:30:00", "00:05:00"], "[h]:mm:ss")
column("errors", [5, "#N/A"], "BIGINT", ["5", None], None, ["missing"])


def mixed(wb):
    ws = wb.active
    ws.append(["k", "v"])
    for v in [d(2024, 5, 6), "n/a", 12.5, True]:
        ws.append(["x", v])
    ws["B2"].number_format = "dd.mm.yyyy"


book("mixed", "k VARCHAR, v VARCHAR", [["x", "2024-05-06"], ["x", "n/a"], ["x", "12.5"], ["x", "TRUE"]], mixed, ["kept_text"])


def dates_beside_numbers(wb):
    ws = wb.active
    ws.append(["k", "v"])
    ws.append(["x", d(2024, 5, 6)])
    ws.append(["x", 7])


book("dates beside numbers", "k VARCHAR, v VARCHAR", [["x", "2024-05-06"], ["x", "7"]], dates_beside_numbers, ["kept_text"])


def day_zero(wb):
    ws = wb.active
    ws.append(["k", "v"])
    for v in [d(2024, 5, 6), 0, 0.5]:
        ws.append(["x", v])
    for row in range(2, 5):
        ws.cell(row, 2).number_format = "yyyy-mm-dd"


book("the day 0 of Excel among dates", "k VARCHAR, v VARCHAR", [["x", "2024-05-06"], ["x", "00:00:00"], ["x", "12:00:00"]], day_zero, ["kept_text"])


def gaps(wb):
    ws = wb.active
    for row in [["v"], [1], [None], [3], [], [], [6]]:
        ws.append(row)


book("rows without a value", "v BIGINT", [["1"], ["3"], ["6"]], gaps, ["empty_rows"])


def years(wb):
    ws = wb.active
    ws.append(["item", 2023, 2024])
    ws.append(["A", 1, 2])


book("years as names", "item VARCHAR, 2023 BIGINT, 2024 BIGINT", [["A", "1", "2"]], years)


def calendar04(wb):
    wb.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    wb.active.append(["k", "v"])
    wb.active.append(["x", d(2024, 5, 6)])


book("calendar of 1904", "k VARCHAR, v DATE", [["x", "2024-05-06"]], calendar04)


def merged(wb):
    ws = wb.active
    ws.append(["k", "sales", None])
    ws.append(["x", 1, 2])
    ws.append(["y", 3, None])
    ws.merge_cells("B1:C1")
    ws.merge_cells("B3:C3")


book("merged", "k VARCHAR, sales BIGINT, sales_1 BIGINT", [["x", "1", "2"], ["y", "3", None]], merged, ["merged"])


def merged_header(wb):
    ws = wb.active
    ws.append(["k", "sales", None])
    for i in range(4):
        ws.append([f"x{i}", i, 10 * i])
    ws.merge_cells("B1:C1")


book("merged_header", "k VARCHAR, sales BIGINT, sales_1 BIGINT", [[f"x{i}", str(i), str(10 * i)] for i in range(4)], merged_header, ["merged"])


def hidden(wb):
    ws = wb.active
    ws.append(["k", "v"])
    ws.append(["x", 1])
    ws.append(["y", 2])
    ws.row_dimensions[3].hidden = True


book("hidden rows", "k VARCHAR, v BIGINT", [["x", "1"], ["y", "2"]], hidden, ["hidden"])


def formulas(wb):
    ws = wb.active
    ws.append(["k", "v"])
    ws.append(["x", 1])
    ws.append(["y", "=B2+1"])


book("formulas without values", "k VARCHAR, v BIGINT", [["x", "1"], ["y", None]], formulas, ["formula"])


def away(wb):
    ws = wb.active
    ws["C4"], ws["E4"] = "k", "v"
    ws["C5"], ws["E5"] = "x", 1
    ws["C7"], ws["E7"] = "y", 2


book("empty rows and columns", "k VARCHAR, v BIGINT", [["x", "1"], ["y", "2"]], away)


def coloured(wb):
    ws = wb.active
    ws.append(["k", "v"])
    ws.append(["x", 1])
    ws["B2"].fill = PatternFill("solid", fgColor="FF0000")
    for i in range(3, 40):
        ws.cell(i, 2).fill = PatternFill("solid", fgColor="00FF00")


book("styled cells without values", "k VARCHAR, v BIGINT", [["x", "1"]], coloured)


def sheets(wb):
    wb.active.append(["k", "v"])
    wb.active.append(["x", 1])
    second = wb.create_sheet("Second")
    second.append(["q"])
    second.append(["z"])


book("two sheets", "k VARCHAR, v BIGINT", [["x", "1"]], sheets, ["sheet"])

frame = pandas.DataFrame({"k": ["x", "y"], "when": pandas.to_datetime(["2024-01-02 03:04:05", "2024-05-06"]), "n": [1.5, None], "ok": [True, False]})
frame.to_excel(f"{folder}/pandas.xlsx", index=False)
truths["pandas"] = {
    "columns": "k VARCHAR, when TIMESTAMP, n DECIMAL(18,1), ok BOOLEAN",
    "rows": [["x", "2024-01-02 03:04:05", "1.5", "true"], ["y", "2024-05-06 00:00:00", None, "false"]], "rules": [],
}
frame.to_excel(f"{folder}/pandas with index.xlsx", index=True)
truths["pandas with index"] = {
    "columns": "column0 BIGINT, k VARCHAR, when TIMESTAMP, n DECIMAL(18,1), ok BOOLEAN",
    "rows": [["0", "x", "2024-01-02 03:04:05", "1.5", "true"], ["1", "y", "2024-05-06 00:00:00", None, "false"]], "rules": [],
}
pandas.DataFrame({"v": [1, 2]}).to_excel(f"{folder}/pandas index of two.xlsx")
truths["pandas index of two"] = {"columns": "column0 BIGINT, v BIGINT", "rows": [["0", "1"], ["1", "2"]], "rules": []}

# The second opinion: what pandas reads of the plain columns of each workbook.
for name, w in truths.items():
    if w["columns"].startswith("k VARCHAR, v ") and "header" not in w["rules"] and name != "empty rows and columns":
        got = pandas.read_excel(f"{folder}/{name}.xlsx", sheet_name=0, dtype=object, keep_default_na=False, na_values=[])
        w["pandas"] = [None if v is None or v == "" or v != v else str(v) for v in got["v"]]
json.dump(truths, sys.stdout)
