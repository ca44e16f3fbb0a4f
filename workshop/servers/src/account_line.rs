//! How the lab's own programs in other languages tell of a connection:
//! `account PORT RESUMED VERSION CIPHER GROUP`, with `-` for what their platform does not say.

use super::Account;
use super::scratch::ScratchDir;
use crate::Result;

/// What begins a line that tells of a connection; a program may print others.
const MARK: &str = "account ";

/// The accounts among the lines that the program has written.
pub(super) fn accounts(directory: &ScratchDir) -> Result<Vec<Account>> {
    directory.read(directory.output_lines()?.iter().filter(|line| line.starts_with(MARK)), parse)
}

fn parse(line: &str) -> Option<Account> {
    let fields: Vec<&str> = line.strip_prefix(MARK)?.split(' ').collect();
    let [port, resumed, version, cipher, group] = *fields else { return None };
    let told = |field: &str| Some(field.to_owned()).filter(|field| field != "-");
    let account = Account::new(port.parse().ok()?, resumed.parse().ok()?, version.to_owned());
    Some(Account { cipher: told(cipher), group: told(group), ..account })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_what_is_not_is_none() {
        let account = parse("account 40001 true TLSv1.3 TLS_AES_128_GCM_SHA256 -").unwrap();
        assert_eq!((account.client_port, account.resumed, account.version.as_str()), (40001, true, "TLSv1.3"));
        assert_eq!((account.cipher.as_deref(), &account.group), (Some("TLS_AES_128_GCM_SHA256"), &None));
    }

    #[test]
    fn a_line_of_another_format_is_an_error() {
        let directory = ScratchDir::new("node", false).unwrap();
        for line in ["account 1", "account x true TLSv1.3 X -", "account 1 yes TLSv1.3 X -", "account 1 true TLSv1.3 X - -"]
        {
            std::fs::write(directory.output(), format!("listening\n{line}\n")).unwrap();
            let error = accounts(&directory).unwrap_err();
            assert!(error.to_string().starts_with("cannot read node's account"), "{error}");
        }
    }
}
