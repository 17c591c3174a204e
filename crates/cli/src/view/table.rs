//! Tables as kubectl prints them: headings in capitals, three spaces between columns, no boxes.

/// Rows under headings.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// Adds a row; empty cells are shown as `<none>`.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.into_iter().map(|cell| if cell.is_empty() { "<none>".to_owned() } else { cell }).collect());
    }

    /// Whether there is nothing under the headings.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// The text, each line behind `indent`.
    pub(crate) fn render(&self, indent: &str) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = indent.to_owned();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - cell.chars().count() + 3));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_spaces() {
        let mut table = Table::new(["NAME", "PODS"]);
        table.row(["kernel-postgres".to_owned(), "1".to_owned()]);
        table.row(["a".to_owned(), String::new()]);
        assert_eq!(table.render("  "), "  NAME              PODS\n  kernel-postgres   1\n  a                 <none>\n");
    }
}
